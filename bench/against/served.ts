import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { httpClient } from '../load/http-client.ts';
import { type Caller, signIn } from '../load/steps.ts';
import type { Checkout } from './checkout.ts';
import { cpuMsOf } from './process-tree.ts';

/** A stack that runs from a working tree, all its processes counted. */
export interface Served {
  commit: string;
  caller: Caller;
  project: string;
  /** Of all its processes, in ms. */
  cpuMs(): number;
  /** Until what follows its requests is done: consumers of the stream, mails, isolates made ahead. */
  untilStill(): Promise<void>;
  stop(): Promise<void>;
}

const readyWithinMs = 60_000;

/** @throws {Error} when it does not say in time that it listens */
export async function serve({ folder, commit }: Checkout): Promise<Served> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-'));
  const node = join(folder, 'node_modules/.bin/node');
  const child = spawn(node, ['infra/local/main.ts'], {
    cwd: folder,
    env: { ...process.env, PORTICO_DATA_DIR: dataDir, PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { pid = 0 } = child;
  const http = httpClient();
  const stop = async () => {
    http.close();
    child.kill('SIGTERM');
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await saysThatItListens(child.stdout, ended);
    const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
    const [project] = demo.projects;
    if (!project) throw new Error('There is no demo Project');
    const caller: Caller = { http, baseUrl: demo.baseUrl, token: '' };
    caller.token = await signIn(caller, project.clientId, project.clientSecret);
    const cpuMs = () => cpuMsOf(pid);
    await untilStill(cpuMs);
    return { commit, caller, project: project.id, cpuMs, untilStill: () => untilStill(cpuMs), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Demo {
  baseUrl: string;
  projects: { id: string; clientId: string; clientSecret: string }[];
}

function saysThatItListens(stdout: NodeJS.ReadableStream, ended: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The stack did not start in time')), readyWithinMs);
    void ended.then(() => reject(new Error('The stack ended before it listened')));
    // All that it logs is read, and dropped: a full pipe would stop it.
    stdout.on('data', (chunk: Buffer) => {
      if (!chunk.includes('Portico listens on')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Until all processes together do next to nothing: one that has started builds the app and fills its pool. */
async function untilStill(cpuMs: () => number): Promise<void> {
  const until = Date.now() + readyWithinMs;
  for (let before = cpuMs(); Date.now() < until; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const now = cpuMs();
    if (now - before <= 50) return;
    before = now;
  }
}
