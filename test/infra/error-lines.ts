import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunbookEntry } from '../../infra/running/runbook.ts';
import { importsOf } from '../setup/imports.ts';

/**
 * Who learns of it: `alarm` goes by the line itself, `also` by what comes of it, and `noLoss` says why nobody has to.
 */
type Told = { alarm: RunbookEntry } | { also: RunbookEntry } | { noLoss: string };

/** Each line that functions log as an error. */
export const errorLines: Readonly<Record<string, Told>> = {
  'access record lost': { alarm: 'access-record-lost' },
  'audit entry lost': { alarm: 'audit-entry-lost' },
  'execution record lost': { alarm: 'execution-record-lost' },
  'subscription not read': { alarm: 'subscription-not-read' },
  'schedule late': { alarm: 'schedules-late' },
  'mail not sent': { alarm: 'mail-not-sent' },
  'cut-off write not swept': { alarm: 'leftovers-not-swept' },
  'sandbox not started': { alarm: 'sandbox-not-started' },

  fault: { also: 'api-faults' },
  'secrets not opened': { also: 'api-faults' },
  'job broke off': { also: 'jobs-given-up' },
  'schedule not run': { also: 'schedules-late' },
  'message not taken': { also: 'dead-letters' },
  'dead letter not taken': { also: 'dead-letters' },
  'message not queued': { also: 'stream-behind' },
  'subscriptions not read': { also: 'stream-behind' },
  'change not understood': { also: 'stream-given-up' },

  'answer not kept for its Idempotency-Key': { noLoss: 'a repeat is answered 409, and does nothing again' },
  'start not taken back': { noLoss: 'the tree may start one run less' },
  'lease not released': { noLoss: 'it ends with the time of its run' },
  'job not given up': { noLoss: 'its time ends it, and nobody was told of it' },
  'key of a job not freed': { noLoss: 'a repeat is answered with the job, for a day' },
  'places not read': { noLoss: 'an error is shown with the places of the deployed code' },
  'day of runs not noted': { noLoss: 'records are found among the runs of their Bot' },
  'use of a client not noted': { noLoss: 'the next use is noted' },
};

const root = resolve(import.meta.dirname, '../..');
const functions = readdirSync(join(root, 'functions'), { withFileTypes: true }).filter((one) =>
  one.isDirectory(),
);

/** Messages of error lines in a file; one that is no literal is `?`. */
function errorsIn(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/\blog\.error\(\s*(?:'([^']+)')?|level: 'ERROR', message(?:: '([^']+)')?/g)]
    .map(([, logged, printed]) => logged ?? printed ?? '?')
    .filter((message) => message !== '?' || file !== 'shared/log.ts');
}

function loadedBy(file: string, loaded = new Set<string>()): Set<string> {
  if (!file.endsWith('.ts') || loaded.has(file)) return loaded;
  loaded.add(file);
  for (const { kind, target } of importsOf(file)) if (kind !== 'type') loadedBy(target, loaded);
  return loaded;
}

/** What each function may log as an error, by its folder, told from all that its handler loads. */
export const errorsOfFunctions: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  functions.map(({ name }) => [
    name,
    new Set([...loadedBy(`functions/${name}/handler.ts`)].flatMap(errorsIn)),
  ]),
);
