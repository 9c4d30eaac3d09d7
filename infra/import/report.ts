import { type FileHandle, open, rm } from 'node:fs/promises';
import { fieldsOf } from '../../shared/base/values.ts';
import type { Destination, ImportSettings } from './connect.ts';
import type { Entry, Unreadable } from './read-entries.ts';

/** What became of the entries so far. */
interface Counts {
  created: number;
  /** The service had it: it was left as it is. */
  present: number;
  refused: number;
  /** References to what is not in the data set. */
  missed: number;
}

export type Report = Awaited<ReturnType<typeof openReport>>;

/** @param path of the file of what was refused: that of an earlier run goes, and it is there only when it has lines */
export async function openReport(path: string) {
  await rm(path, { force: true });
  const counts: Counts = { created: 0, present: 0, refused: 0, missed: 0 };
  let file: Promise<FileHandle> | undefined;
  return {
    counts: counts as Readonly<Counts>,
    count(what: 'created' | 'present' | 'missed'): void {
      counts[what] += 1;
    },
    /** A line of the file of what was refused. */
    async refused(entry: Entry | Unreadable, status: number | undefined, reason: string): Promise<void> {
      counts.refused += 1;
      file ??= open(path, 'a', 0o600);
      await (await file).appendFile(`${JSON.stringify(lineOf(entry, status, reason))}\n`);
    },
    close: async () => (await file)?.close(),
  };
}

/** Where it stands and what it is called, and nothing of what is in it. */
function lineOf(entry: Entry | Unreadable, status: number | undefined, reason: string): object {
  const { file, number } = entry;
  const { resourceType, id } = fieldsOf('resource' in entry ? entry.resource : undefined);
  const fullUrl = 'fullUrl' in entry ? entry.fullUrl : undefined;
  return { file, entry: number, fullUrl, resourceType, id, status, reason };
}

const everyMs = 1_000;
/** Where lines stay, there are fewer of them. */
const seldomMs = 10_000;

/** Says how far it is: on a terminal in one line, else in a line now and then. */
export function showProgress(out: NodeJS.WriteStream, counts: Readonly<Counts>) {
  let count = 0;
  let isLoading = false;
  let beganAt = performance.now();
  const done = () => counts.created + counts.present + counts.refused;
  const seconds = () => (performance.now() - beganAt) / 1000;
  const rate = () => number(Math.round(done() / Math.max(seconds(), 0.001)));
  const show = () => {
    const line = isLoading
      ? `${number(done())} of ${number(count)}, ${rate()} a second`
      : `${number(count)} read`;
    out.write(out.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
  };
  const timer = setInterval(show, out.isTTY ? everyMs : seldomMs).unref();
  return {
    /** While the files are read for the first time. */
    read(sofar: number): void {
      count = sofar;
    },
    /** From here on entries are loaded. */
    begin(all: number): void {
      [count, isLoading, beganAt] = [all, true, performance.now()];
    },
    end(): void {
      clearInterval(timer);
      if (out.isTTY) out.write('\r\u001b[K');
    },
    /** What it came to, for people. */
    summary(files: number, { project }: Destination, { dataSet, refused }: ImportSettings): string {
      const { created, present, missed } = counts;
      return [
        `${number(count)} entries of ${number(files)} files into "${project.name}", data set "${dataSet}"`,
        `created        ${number(created)}`,
        `there already  ${number(present)}`,
        `refused        ${number(counts.refused)}${counts.refused > 0 ? `: see ${refused}` : ''}`,
        ...(missed > 0 ? [`${number(missed)} references lead out of the data set`] : []),
        `in ${seconds().toFixed(1)} s, ${rate()} a second\n`,
      ].join('\n');
    },
  };
}

function number(value: number): string {
  return value.toLocaleString('en');
}
