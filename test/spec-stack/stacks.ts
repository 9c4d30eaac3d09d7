import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen } from '../../infra/local/gateway/listen.ts';
import { supervise } from '../../infra/local/supervise.ts';
import { roomiestFolder } from '../setup/roomiest-folder.ts';

/** Where the stack of a worker is. */
export interface Place {
  dataDir: string;
  /** Of `stack-process.ts`. */
  control: string;
  /** What its functions log. */
  log: string;
}

interface Running extends Place {
  stop(): Promise<void>;
}

const quickHashing = fileURLToPath(new URL('../setup/quick-hashing.cjs', import.meta.url));

/** Beyond this a table is begun anew: its file may be in memory. */
const fullBytes = 128 * 1024 * 1024;

/**
 * Keeps a stack for each of jest's workers, in a process of its own that lasts longer than a file: a start costs more
 * than most files do. `GET /<number of the worker>` answers its `Place`, `GET /browser/<number>` where its browser is; a worker
 * has one file at a time.
 * @param from the output folder of `cdk synth`, whose bundles are to run; without it the sources do
 * @param browser where the browser of a worker is, which is started when that is asked first
 */
export async function keepStacks(
  from: string | undefined,
  browser: (worker: string) => Promise<string>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const stacks = new Map<string, Promise<Running>>();

  async function stackOf(worker: string): Promise<Running> {
    const running = await stacks.get(worker);
    if (running && !(await isFull(running))) return running;
    const starting = start(from);
    stacks.set(worker, starting);
    // One that does not start is said to who asked for it, not to the process.
    await Promise.all([starting, running?.stop()]);
    return starting;
  }

  const server = await listen(0, async ({ url = '' }, response) => {
    // Asked once a file: a connection kept until the next may be closed just as it asks.
    response.setHeader('connection', 'close');
    try {
      if (url.startsWith('/browser/')) return void response.end(await browser(url));
      const { dataDir, control, log } = await stackOf(url);
      response.end(JSON.stringify({ dataDir, control, log } satisfies Place));
    } catch (error) {
      stacks.delete(url);
      response.writeHead(500).end(String(error));
    }
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await Promise.all([...stacks.values()].map(async (starting) => (await starting).stop()));
    },
  };
}

/** Whether much is in the table; nothing is where it has no file here. */
async function isFull({ dataDir }: Place): Promise<boolean> {
  const { size } = await stat(join(dataDir, 'table.db')).catch(() => ({ size: 0 }));
  return size > fullBytes;
}

async function start(from: string | undefined): Promise<Running> {
  const dataDir = await mkdtemp(join(await roomiestFolder(), 'portico-spec-'));
  const log = join(dataDir, 'log');
  const lines = createWriteStream(log);
  let control = '';
  const { stop } = await supervise({
    command: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      ...(process.env.PORTICO_LONG === '1' ? [] : ['--require', quickHashing]),
      ...[fileURLToPath(new URL('stack-process.ts', import.meta.url)), dataDir],
      ...(from === undefined ? [] : [from]),
    ],
    env: Object.fromEntries(
      ['PATH', 'HOME', 'DYNAMODB_ENDPOINT', 'NODE_COMPILE_CACHE'].flatMap((name) => {
        const value = process.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    ready: /asked at/,
    readyTimeoutMs: 60_000,
    onLine: (line) => {
      control = /asked at (\S+)/.exec(line)?.[1] ?? control;
      lines.write(`${line}\n`);
    },
  });
  return {
    ...{ dataDir, control, log },
    async stop() {
      await stop();
      lines.end();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
