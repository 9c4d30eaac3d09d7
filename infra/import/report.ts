import { type FileHandle, open, rm } from 'node:fs/promises';
import { fieldsOf } from '../../shared/fields-of.ts';
import type { Entry, Unreadable } from './read-entries.ts';

/** What became of the entries so far. */
export interface Counts {
  created: number;
  /** The service had it: it was left as it is. */
  present: number;
  refused: number;
  /** References to what is not in the data set. */
  missed: number;
}

export interface Report {
  readonly counts: Readonly<Counts>;
  count(what: 'created' | 'present' | 'missed'): void;
  /** A line of the file of what was refused. */
  refused(entry: Entry | Unreadable, status: number | undefined, reason: string): Promise<void>;
  close(): Promise<void>;
}

/** @param path of the file of what was refused: that of an earlier run goes, and it is there only when it has lines */
export async function openReport(path: string): Promise<Report> {
  await rm(path, { force: true });
  const counts: Counts = { created: 0, present: 0, refused: 0, missed: 0 };
  let file: Promise<FileHandle> | undefined;
  return {
    counts,
    count(what) {
      counts[what] += 1;
    },
    async refused(entry, status, reason) {
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
