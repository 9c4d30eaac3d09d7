import type { Destination } from './connect.ts';
import type { Counts } from './report.ts';
import type { ImportSettings } from './settings.ts';

export interface Progress {
  /** While the files are read for the first time. */
  read(count: number): void;
  /** From here on entries are loaded. */
  begin(count: number): void;
  end(): void;
  /** What it came to, for people. */
  summary(files: number, destination: Destination, settings: ImportSettings): string;
}

const everyMs = 1_000;
/** Where lines stay, there are fewer of them. */
const seldomMs = 10_000;

/** Says how far it is: on a terminal in one line, else in a line now and then. */
export function showProgress(out: NodeJS.WriteStream, counts: Readonly<Counts>): Progress {
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
    read(sofar) {
      count = sofar;
    },
    begin(all) {
      [count, isLoading, beganAt] = [all, true, performance.now()];
    },
    end() {
      clearInterval(timer);
      if (out.isTTY) out.write('\r\u001b[K');
    },
    summary(files, { project }, { dataSet, refused }) {
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
