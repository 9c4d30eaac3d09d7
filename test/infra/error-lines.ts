import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * Who learns of it, by entries of docs/operate.md: `alarm` goes by the line itself, `also` by what comes of it, and `noLoss` says why nobody has to.
 */
type Told = { alarm: string } | { also: string } | { noLoss: string };

/** Each line that functions log as an error. */
export const errorLines: Readonly<Record<string, Told>> = {
  'access record lost': { alarm: 'access-record-lost' },
  'audit entry lost': { alarm: 'audit-entry-lost' },
  'emergency access without a sign-in': { alarm: 'emergency-unasked' },
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
  'a project knows somebody by the address before': {
    noLoss: 'it shows that one until they change it again',
  },
  'start not taken back': { noLoss: 'the tree may start one run less' },
  'lease not released': { noLoss: 'it ends with the time of its run' },
  'job not given up': { noLoss: 'its time ends it, and nobody was told of it' },
  'key of a job not freed': { noLoss: 'a repeat is answered with the job, for a day' },
  'places not read': { noLoss: 'an error is shown with the places of the deployed code' },
  'day of runs not noted': { noLoss: 'records are found among the runs of their Bot' },
  'share not told': { noLoss: 'each instance holds its own share until the next second' },
  'use of a client not noted': { noLoss: 'the next use is noted' },
};

const root = resolve(import.meta.dirname, '../..');
const functions = readdirSync(join(root, 'functions'), { withFileTypes: true }).filter((one) =>
  one.isDirectory(),
);

const inside = ['functions', 'shared'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

/** Messages of error lines in a file; one that is no literal is `?`. */
function errorsIn(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/\blog\.error\(\s*(?:'([^']+)')?|level: 'ERROR', message(?:: '([^']+)')?/g)]
    .map(([, logged, printed]) => logged ?? printed ?? '?')
    .filter((message) => message !== '?' || file !== 'shared/base/log.ts');
}

/** What a function has in its bundle: a chapter of which it needs a part is there in that part. */
function bundleOf(folder: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, 'functions', folder, 'handler.ts')],
    ...{ bundle: true, write: false, splitting: true, outdir: root, format: 'esm', platform: 'node' },
    ...{ mainFields: ['module', 'main'], minifySyntax: true, logLevel: 'error' },
  });
  return outputFiles.map(({ text }) => text).join('\n');
}

const every = inside.flatMap(errorsIn);

/** What each function may log as an error, by its folder. */
export const errorsOfFunctions: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  functions.map(({ name }) => {
    const text = bundleOf(name);
    const isIn = (message: string) =>
      message === '?' || text.includes(`error("${message}"`) || text.includes(`message: "${message}"`);
    return [name, new Set(every.filter(isIn))];
  }),
);
