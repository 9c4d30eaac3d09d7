import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';

const host = fileURLToPath(new URL('./frozen-host.ts', import.meta.url));
const linuxTest = process.platform === 'linux' ? test : test.skip;

/** 3 ms, and longer than a child may take to drop an isolate. */
linuxTest('a child that was frozen with its environment is kept', async () => {
  const args = ['--disable-warning=ExperimentalWarning', '--no-node-snapshot', host, await cachedGuest()];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid = 0 } = child;
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const seen: (string | undefined)[] = [];
  try {
    for (const frozenMs of [3, 3, 3, 400, 700]) {
      const { value } = await lines.next();
      seen.push(value);
      await stopped(pid);
      await new Promise((resolve) => setTimeout(resolve, frozenMs));
      // Lambda thaws all of an environment at once.
      process.kill(Number(value?.split(' ')[1]), 'SIGCONT');
      process.kill(pid, 'SIGCONT');
    }
    const { value } = await lines.next();
    seen.push(value);
    expect(seen[0]).toMatch(/^returned \d+$/);
    expect(new Set(seen).size).toBe(1);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

async function stopped(pid: number): Promise<void> {
  const state = () => /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
  while (state() !== 'T') await new Promise((resolve) => setImmediate(resolve));
}
