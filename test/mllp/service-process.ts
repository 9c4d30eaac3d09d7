import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { bareEnvironment } from '../setup/bare-environment.ts';
import type { Portico } from '../spec/portico.ts';

const root = resolve(import.meta.dirname, '../..');

/** `npm start` without npm, as a process that can be killed and started again where it was. */
export interface ServiceProcess {
  /** Of the service that runs now or next: the address stays. */
  portico: Portico;
  stop(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  /** Stops it and forgets its data. */
  end(): Promise<void>;
}

/** At most one in a test file, before anything else there has looked for a service. */
export async function startService(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-mllp-service-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'infra/local/main.ts'], {
      cwd: root,
      env: { ...bareEnvironment(), PORTICO_DATA_DIR: dataDir, PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await says(child, 'Portico listens on');
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  await start();
  // The specs' own client speaks to a service elsewhere when it finds these.
  process.env.BASE_URL = `http://127.0.0.1:${port}`;
  process.env.PORTICO_DEMO = join(dataDir, 'demo.json');
  const { startPortico } = await import('../spec/portico.ts');
  return {
    portico: await startPortico(),
    start,
    stop,
    async end() {
      await stop('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function says(child: ChildProcess, words: string): Promise<void> {
  const { promise, resolve: done, reject } = Promise.withResolvers<void>();
  let printed = '';
  // Its log is read to the end: a pipe that nobody reads would stop it.
  child.stdout?.on('data', (chunk: Buffer) => {
    printed = (printed + String(chunk)).slice(-10_000);
    if (printed.includes(words)) done();
  });
  child.once('exit', () => reject(new Error(`The service did not start: ${printed}`)));
  await promise;
}
