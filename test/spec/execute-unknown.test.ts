import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { botThat, execute, recordsOf } from './running.ts';

let portico: Portico;
beforeAll(async () => {
  portico = await startPortico({});
});
afterAll(() => portico.stop());

/** Processes below ours, by what their command line says. */
function descendants(named: RegExp): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .map(([, pid, parent, args = '']) => ({ pid: Number(pid), parent: Number(parent), args }));
  const below = new Set([process.pid]);
  for (let depth = 0; depth < 8; depth++) {
    for (const { pid, parent } of rows) if (below.has(parent)) below.add(pid);
  }
  below.delete(process.pid);
  return rows.filter(({ pid, args }) => below.has(pid) && named.test(args)).map(({ pid }) => pid);
}

test('a run whose invoker dies is a 409 with its id, recorded once, and no later one is a 5xx', async () => {
  const quick = await botThat(portico, 'return 1');
  const slow = await botThat(
    portico,
    `await medplum.createResource({ resourceType: 'Basic', id: 'started', code: { text: 'started' } });
     await new Promise((resolve) => setTimeout(resolve, 25_000)); return 1`,
    { timeout: 25 },
  );
  expect((await execute(portico, quick)).text).toBe('1');
  const running = execute(portico, slow);
  const hasStarted = async () => (await portico.api('GET', 'fhir/R4/Basic?_summary=count')).json.total > 0;
  while (!(await hasStarted())) await pause(50);
  // The one that runs Bots, and the one that evaluates expressions.
  const invokers = descendants(/^\S*node .*invoker-process\.ts/);
  expect(invokers.length).toBeGreaterThan(0);
  for (const pid of invokers) process.kill(pid, 'SIGKILL');

  const answer = await running;
  const { id, issue } = answer.json;
  expect([answer.status, id, issue[0].code]).toEqual([409, 'outcome-unknown', 'conflict']);
  const runId = /run ([0-9a-f-]{36}) is unknown/.exec(answer.json.issue[0].details.text)?.[1];
  const records = await recordsOf(portico, slow);
  expect(records.map(({ outcome, outcomeDesc }) => [outcome, outcomeDesc])).toEqual([['8', 'unknown']]);
  expect(JSON.stringify(records)).toContain(`"${runId}"`);

  const next = await execute(portico, quick);
  expect([409, 429]).toContain(next.status);
});
