import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { bundleFunction } from '../../infra/bundle.ts';
import { median, type Row } from '../rows.ts';
import { type BenchStack, startBench } from '../stack.ts';
import { firstEvents } from './events.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('./first-call.ts', import.meta.url));
const functions = ['execute-by-id', 'execute-by-identifier', 'invite', 'resources'] as const;
const rounds = 15;

/**
 * Cold starts in CPU time, processes by turns: what importing a bundle takes against importing the bare
 * DynamoDB client's, and what the first call takes of `resources` against an execute's.
 */
export async function coldRows(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-cold-'));
  const bench = await startBench();
  try {
    const bare = join(folder, 'bare/index.mjs');
    buildBare(bare);
    for (const name of functions) bundleFunction(name, join(folder, name), join(folder, 'maps'));
    const env = environmentOf(bench);
    const events: Record<string, unknown> = await firstEvents(bench);
    const times = new Map<string, number[][]>();
    for (let round = 0; round < rounds; round++) {
      for (const name of ['bare', ...functions, 'resources create']) {
        const event = events[name] === undefined ? [] : [JSON.stringify(events[name])];
        const args = [script, join(folder, name.split(' ')[0] ?? '', 'index.mjs'), ...event];
        const { stdout } = await run(process.execPath, args, { env });
        times.set(name, [...(times.get(name) ?? []), JSON.parse(stdout.split('\n').at(-1) ?? '')]);
      }
    }
    const msOf = (name: string, at: 0 | 1) => median((times.get(name) ?? []).map((pair) => pair[at] ?? 0));
    return [...(await sizeRows(folder)), ...importRows(msOf), ...firstCallRows(msOf)];
  } finally {
    await bench.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type MsOf = (name: string, at: 0 | 1) => number;

function importRows(msOf: MsOf): Row[] {
  return functions.map((name) => ({
    ...{ name: `import of ${name}, against the bare DynamoDB client's`, unit: 'times' },
    ...(name === 'resources' ? {} : { most: 1.5 }),
    value: msOf(name, 0) / msOf('bare', 0),
    detail: `${msOf(name, 0).toFixed(0)} ms of CPU against ${msOf('bare', 0).toFixed(0)}`,
  }));
}

function firstCallRows(msOf: MsOf): Row[] {
  const execute = msOf('execute-by-id', 1);
  return ['resources', 'resources create'].map((name) => ({
    ...{ name: `first call of ${name}, against execute's`, unit: 'times' },
    ...(name === 'resources' ? { most: 1.5 } : { most: 1.8, wanted: '1.5' }),
    value: msOf(name, 1) / execute,
    detail: `${msOf(name, 1).toFixed(0)} ms of CPU against ${execute.toFixed(0)}`,
  }));
}

async function sizeRows(folder: string): Promise<Row[]> {
  return Promise.all(
    functions.slice(0, 3).map(async (name): Promise<Row> => {
      const files = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
      const sizes = files
        .filter((file) => file.isFile())
        .map(async (file) => (await readFile(join(file.parentPath, file.name))).length);
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      return { name: `bundle of ${name}`, value: Math.round(bytes / 1000), unit: 'kB', most: 900 };
    }),
  );
}

/** The client alone, bundled as functions are. */
function buildBare(outfile: string): void {
  buildSync({
    stdin: {
      contents: `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
        const client = new DynamoDBClient({ region: 'eu-west-1' });
        export const handler = () => client;`,
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    },
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', target: 'node24', minify: true },
    mainFields: ['module', 'main'],
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
}

function environmentOf({ environment }: BenchStack): NodeJS.ProcessEnv {
  const aws = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
  return { ...environment, ...aws };
}
