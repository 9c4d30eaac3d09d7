import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { PoolBusy, patienceOfCall, placeIn, tenantPool } from '../../infra/local/invoker/tenant-pool.ts';
import { Gate } from '../../shared/base/gate.ts';
import type { CompileRequest } from '../../shared/bots/run/contract.ts';
import { SandboxNotStarted, startChild } from '../../shared/bots/sandbox/child-process.ts';
import { createSandbox, type Sandbox, superviseCompile } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, returned, runOf, word } from './bot-runs.ts';

let guestDir: string;
const open: { close: () => Promise<void> }[] = [];
beforeAll(async () => {
  guestDir = await cachedGuest();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function sandbox(): Sandbox {
  const made = createSandbox({ guestDir });
  open.push(made);
  return made;
}

/** Children of `parent` that run the sandbox. */
function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const [, ppid] = readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) . /, 'x ')
        .split(' ');
      return Number(ppid) === parent && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('child.cjs');
    } catch {
      return false;
    }
  });
}

const until = async (holds: () => boolean) => {
  for (const untilMs = Date.now() + 30_000; !holds() && Date.now() < untilMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(holds()).toBe(true);
};

const linuxTest = process.platform === 'linux' ? test : test.failing;

linuxTest('the child is given no environment and may read its own folder only', async () => {
  await sandbox().run(runOf(bot('return 1')));
  const [pid = 0] = childrenOf(process.pid);
  expect(
    readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .filter((entry) => !entry.startsWith('NODE_CHANNEL')),
  ).toEqual(['']);
  const args = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
  expect(args).toContain('--permission');
  expect(args.filter((arg) => arg.startsWith('--allow-'))).toEqual([
    '--allow-addons',
    `--allow-fs-read=${realpathSync(guestDir)}/*`,
  ]);
});

linuxTest('one child serves run after run, and is replaced for another Project', async () => {
  const one = sandbox();
  expect(returned(await one.run(runOf(bot('return 1'))))).toBe(1);
  const first = childrenOf(process.pid);
  expect(returned(await one.run(runOf(bot('return 2'))))).toBe(2);
  expect(childrenOf(process.pid)).toEqual(first);
  expect(returned(await one.run(runOf(bot('return 3'), { project: 'project-b' })))).toBe(3);
  await until(() => childrenOf(process.pid).length === 1);
  expect(childrenOf(process.pid)).not.toEqual(first);
});

linuxTest('a child that is killed in a run ends that run, and the next one works', async () => {
  const one = sandbox();
  await one.run(runOf(bot('return 1')));
  const asked = Promise.withResolvers<void>();
  const api = http.createServer(() => asked.resolve());
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
  const code = bot(`console.log("begun"); await fetch("${baseUrl}")`);
  const running = one.run(runOf(code, { api: { baseUrl, token: 'x' } }));
  await asked.promise;
  process.kill(childrenOf(process.pid)[0] ?? 0, 'SIGKILL');
  const result = await running;
  expect([word(result.outcome), result.log.map((entry) => entry.text)]).toEqual(['limit memory', ['begun']]);
  expect(returned(await one.run(runOf(bot('return 2'))))).toBe(2);
  api.close();
  api.closeAllConnections();
});

linuxTest('a child that is killed between runs is replaced unseen', async () => {
  const one = sandbox();
  await one.run(runOf(bot('return 1')));
  process.kill(childrenOf(process.pid)[0] ?? 0, 'SIGKILL');
  await until(() => childrenOf(process.pid).length === 0);
  expect(returned(await one.run(runOf(bot('return 2'))))).toBe(2);
});

linuxTest('a child that was told to die is not taken for alive', async () => {
  const child = startChild({ guestDir, script: 'child.cjs', heapMb: 96, addons: true });
  await child.ready;
  expect(child.alive()).toBe(true);
  child.kill();
  expect(child.alive()).toBe(false);
  await until(() => childrenOf(process.pid).length === 0);
});

linuxTest('a stopped child is killed when the time is up', async () => {
  const one = sandbox();
  await one.run(runOf(bot('return 1')));
  // It cannot say that its time is up: who waits for it has to end it.
  const running = one.run(runOf(bot('await new Promise(() => {})'), { limits: { timeoutMs: 300 } }));
  await until(() => childrenOf(process.pid).length > 0);
  for (const child of childrenOf(process.pid)) process.kill(child, 'SIGSTOP');
  const result = await running;
  expect(word(result.outcome)).toBe('limit time');
  expect(result.durationMs).toBeLessThan(10_000);
  expect(returned(await one.run(runOf(bot('return 3'))))).toBe(3);
});

linuxTest('the child dies with its supervisor, even in the middle of a loop', async () => {
  const text = `import { createSandbox } from '${fileURLToPath(new URL('../../shared/bots/sandbox/supervisor.ts', import.meta.url))}';
    const sandbox = createSandbox({ guestDir: ${JSON.stringify(guestDir)} });
    void sandbox.run(${JSON.stringify(runOf(bot('for (;;);'), { limits: { timeoutMs: 60_000 }, deadlineAtMs: Date.now() + 60_000 }))});`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: 'ignore' });
  await until(() => childrenOf(parent.pid ?? 0).length === 1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const [pid = 0] = childrenOf(parent.pid ?? 0);
  parent.kill('SIGKILL');
  await until(() => {
    try {
      process.kill(pid, 0);
      return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    } catch {
      return true;
    }
  });
});

test('an unused sandbox keeps no process alive', () => {
  const text = `import { createSandbox } from '${fileURLToPath(new URL('../../shared/bots/sandbox/supervisor.ts', import.meta.url))}';
    const sandbox = createSandbox({ guestDir: ${JSON.stringify(guestDir)} });
    const { outcome } = await sandbox.run(${JSON.stringify(runOf(bot('return 1'), { limits: { timeoutMs: 40_000 }, deadlineAtMs: Date.now() + 40_000 }))}); console.log(outcome.kind);`;
  expect(
    execFileSync(process.execPath, ['--input-type=module', '-e', text], {
      encoding: 'utf8',
      timeout: 50_000,
    }),
  ).toBe('returned\n');
});

test('runs at once take turns', async () => {
  const one = sandbox();
  const results = await Promise.all([1, 2, 3].map((n) => one.run(runOf(bot(`return ${n}`)))));
  expect(results.map(returned)).toEqual([1, 2, 3]);
});

test('a sandbox without its files fails as a fault, not as a Bot', async () => {
  expect(() => createSandbox({ guestDir: '/nowhere' })).toThrow();
  const closed = createSandbox({ guestDir });
  await closed.close();
  await expect(closed.run(runOf(bot('return 1')))).rejects.toThrow('closed');
});

test("a sandbox that cannot load its addon says so in the loader's words, and nothing has run", async () => {
  const broken = await mkdtemp(join(tmpdir(), 'portico-guest-'));
  await cp(guestDir, broken, { recursive: true });
  await writeFile(join(broken, 'isolated-vm.node'), 'no library');
  const one = createSandbox({ guestDir: broken });
  open.push(one);
  for (let tries = 0; tries < 2; tries++) {
    const error: unknown = await one.run(runOf(bot('return 1'))).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SandboxNotStarted);
    expect((error as SandboxNotStarted).words).toMatch(/isolated-vm\.node.*(?:header|too short)/);
  }
  await rm(broken, { recursive: true });
});

/** Three children, two of one Project. */
function poolOf(idleMs: number): Sandbox['run'] {
  const end = (worker: Sandbox) => worker.close();
  const start = () => createSandbox({ guestDir });
  const pool = tenantPool({ start, end, most: 3, mostPerTenant: 2, idleMs });
  open.push({ close: pool.stop });
  return (request) => pool.use(request.project, 0, (worker) => worker.run(request));
}

linuxTest('a pool gives each Project children of its own, never more than allowed', async () => {
  const pool = poolOf(60_000);
  const run = (project: string, body: string) => pool(runOf(bot(body), { project }));
  const wait = 'await new Promise((r) => setTimeout(r, 150)); return 1';
  const busy = [run('a', wait), run('a', wait)];
  await expect(run('a', 'return 1')).rejects.toBeInstanceOf(PoolBusy);
  const other = run('b', wait);
  await expect(run('c', 'return 1')).rejects.toBeInstanceOf(PoolBusy);
  expect((await Promise.all([...busy, other])).map(returned)).toEqual([1, 1, 1]);
  const before = childrenOf(process.pid);
  expect(before).toHaveLength(3);
  expect(returned(await run('c', 'return 2'))).toBe(2);
  await until(() => childrenOf(process.pid).length === 3);
  expect(childrenOf(process.pid).filter((pid) => !before.includes(pid))).toHaveLength(1);
});

linuxTest('who finds all compilers busy waits for a turn, as long as there is time', async () => {
  const compilers = new Gate(1);
  const compile = async (request: CompileRequest) => {
    const leave = await placeIn(compilers, request.project, patienceOfCall(request));
    return superviseCompile(guestDir, request).finally(leave);
  };
  const text = (n: number, leftMs = 60_000): CompileRequest => ({
    ...{ kind: 'compile', project: 'a', filename: 'a.ts', source: `export const handler = () => ${n}` },
    deadlineAtMs: Date.now() + leftMs,
  });
  const first = compile(text(1));
  await expect(compile(text(2, 1_000))).rejects.toBeInstanceOf(PoolBusy);
  const made = await Promise.all([first, ...[3, 4, 5].map((n) => compile(text(n)))]);
  expect(made).toEqual(
    [1, 3, 4, 5].map((n) => ({
      ...{ kind: 'compiled', format: 'esm', text: expect.stringContaining(`=> ${n}`) },
    })),
  );
});

linuxTest(
  'a pool ends a child that nobody needs any more, and starts another when somebody does',
  async () => {
    const pool = poolOf(400);
    const run = (body: string) => pool(runOf(bot(body)));
    for (let round = 0; round < 2; round++) {
      // Longer than that is only too long for one that does nothing.
      expect(returned(await run('await new Promise((r) => setTimeout(r, 900)); return 1'))).toBe(1);
      expect(childrenOf(process.pid)).toHaveLength(1);
      await until(() => childrenOf(process.pid).length === 0);
    }
  },
);
