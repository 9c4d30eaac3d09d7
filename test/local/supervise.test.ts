import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import { supervise } from '../../infra/local/supervise.ts';
import { left, running } from './processes.ts';

/** Says its own id and that of a child of its own; both ignore SIGTERM when told to. */
const family = (stubborn: boolean) => `
const { spawn } = require('node:child_process');
${stubborn ? "process.on('SIGTERM', () => {});" : ''}
const child = spawn('/bin/sh', ['-c', ${JSON.stringify(stubborn ? "trap '' TERM; while :; do sleep 0.1; done" : 'while :; do sleep 0.1; done')}]);
console.log('ids', process.pid, child.pid, Object.keys(process.env).join());
setInterval(() => {}, 1000);`;

async function startFamily(stubborn: boolean) {
  let ids: number[] = [];
  const child = await supervise({
    command: process.execPath,
    args: ['-e', family(stubborn)],
    env: {},
    ready: /^ids/,
    readyTimeoutMs: 30_000,
    onLine: (line) => {
      ids = (line.match(/\d+/g) ?? []).map(Number);
    },
  });
  return { child, ids };
}

describe('a supervised process', () => {
  test('ends with its children when it is stopped', async () => {
    const { child, ids } = await startFamily(false);
    expect(running(ids)).toHaveLength(2);
    await child.stop();
    expect(await left(ids)).toEqual([]);
  });

  test('that ignores SIGTERM is killed two seconds later', async () => {
    const { child, ids } = await startFamily(true);
    await child.stop();
    expect(await left(ids)).toEqual([]);
  });

  test('has the environment that it was given and nothing of ours', async () => {
    const said: string[] = [];
    const child = await supervise({
      command: process.execPath,
      args: ['-e', 'console.log("ready", JSON.stringify(process.env)); setInterval(() => {}, 1000)'],
      env: { ONLY: 'this one' },
      ready: /^ready/,
      readyTimeoutMs: 30_000,
      onLine: (line) => said.push(line),
    });
    await child.stop();
    expect(said[0]).toBe('ready {"ONLY":"this one"}');
  });

  test('that ends before it is ready is reported with what it said last', async () => {
    const program = { command: '/bin/sh', args: ['-c', 'echo no such port >&2; exit 3'], env: {} };
    const starting = supervise({ ...program, ready: /listening/, readyTimeoutMs: 5_000 });
    await expect(starting).rejects.toThrow(/ended with code 3\nno such port/);
  });

  test('that is not ready in time is ended', async () => {
    const starting = supervise({
      command: '/bin/sh',
      args: ['-c', 'echo $$; sleep 60'],
      env: {},
      ready: /listening/,
      readyTimeoutMs: 300,
    });
    const error = await starting.catch((reason: Error) => reason);
    expect(String(error)).toMatch(/was not ready after 300 ms/);
    expect(await left([Number(String(error).split('\n')[1])])).toEqual([]);
  });

  test.each([true, false])(
    'does not outlive a kill -9 of its parent (ignores SIGTERM: %s)',
    async (stubborn) => {
      const program = `
      import { supervise } from ${JSON.stringify(new URL('../../infra/local/supervise.ts', import.meta.url).href)};
      await supervise({ command: process.execPath, args: ['-e', ${JSON.stringify(family(stubborn))}], env: {},
        ready: /^ids/, readyTimeoutMs: 30_000, onLine: (line) => console.log(line) });`;
      const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
        env: { NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
      const ids = (line.match(/\d+/g) ?? []).map(Number);
      expect(running(ids)).toHaveLength(2);
      parent.kill('SIGKILL');
      expect(await left(ids)).toEqual([]);
    },
  );
});
