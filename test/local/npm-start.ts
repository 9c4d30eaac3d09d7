import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bareEnvironment } from '../setup/bare-environment.ts';

const root = resolve(import.meta.dirname, '../..');

export interface Instance {
  child: ChildProcess;
  baseUrl: string;
  readyMs: number;
}

/** `npm start` without npm: the same program, as a process of its own. @param env beside folder and port */
export async function npmStart(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Instance> {
  const startedAt = Date.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'infra/local/main.ts'], {
    cwd: root,
    env: { ...bareEnvironment(), PORTICO_DATA_DIR: folder, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    printed += chunk;
  });
  for (;;) {
    const baseUrl = /Portico listens on (\S+)/.exec(printed)?.[1];
    if (baseUrl) return { child, baseUrl, readyMs: Date.now() - startedAt };
    if (child.exitCode !== null || Date.now() - startedAt > 120_000) throw new Error(printed);
    await pause(20);
  }
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  child.kill(signal);
  return exited;
}
