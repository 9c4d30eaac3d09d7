import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeUnless } from './left-out.ts';

const folder = resolve(import.meta.dirname, '../../../shared/data/hl7v2');
const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.hl7')) : [];

/** The sample messages are not part of the repository: without them a suite of theirs is skipped, with its tests listed. */
export function describeSamples(suite: (files: readonly string[]) => void): void {
  const missing = files.length > 0 ? undefined : `${folder} is not there`;
  describeUnless(missing, 'sample messages', () => suite(missing === undefined ? files : ['any']));
}

export function readSample(file: string): Buffer {
  return readFileSync(resolve(folder, file));
}
