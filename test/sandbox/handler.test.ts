import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import type { Compiled, CompileRequest, RunRequest, RunResult } from '../../shared/bots/run/contract.ts';
import { type Deflated, pack, unpack } from '../../shared/bots/run/payload.ts';
import { bot, returned, runOf } from './bot-runs.ts';

type Handler = (
  event: RunRequest | CompileRequest | Deflated,
  context?: { tenantId?: string },
) => Promise<RunResult | Compiled | Deflated>;
let handler: Handler;

beforeAll(async () => {
  process.env.PORTICO_GUEST_DIR = await cachedGuest();
  ({ handler } = await import('../../functions/invoker/handler.ts'));
});

function resultIn(answer: Awaited<ReturnType<Handler>>): RunResult {
  const result = unpack(answer);
  if (!('outcome' in result)) throw new Error('The answer is of no run');
  return result;
}

test('a run as Lambda hands it over', async () => {
  const event = JSON.parse(JSON.stringify(pack(runOf(bot('return 1')))));
  const result = resultIn(await handler(event, { tenantId: 'project-a' }));
  expect(returned(result)).toBe(1);
  expect(result).toMatchObject({ log: [], logTruncated: false, durationMs: expect.any(Number) });
});

test('a large run and a large result go deflated', async () => {
  const text = 'x'.repeat(4_000_000);
  const packed = pack(
    runOf(bot('return event.input'), { input: { kind: 'text', text }, limits: { resultBytes: 5e6 } }),
  );
  expect(Object.keys(packed)).toEqual(['deflated']);
  expect(JSON.stringify(packed).length).toBeLessThan(100_000);
  const answer = await handler(packed);
  expect(Object.keys(answer)).toEqual(['deflated']);
  expect(returned(resultIn(answer))).toBe(text);
});

test('packing and unpacking give the same, small or large', () => {
  for (const size of [0, 200_000, 2_000_000]) {
    const request = runOf(bot(''), { input: { kind: 'text', text: randomBytes(size).toString('latin1') } });
    expect(unpack(JSON.parse(JSON.stringify(pack(request))))).toEqual(request);
  }
  const result: RunResult = {
    outcome: { kind: 'no-handler', message: '' },
    log: [],
    logTruncated: false,
    durationMs: 1,
  };
  expect(unpack(pack(result))).toEqual(result);
});

test('a text to compile as Lambda hands it over', async () => {
  const event = {
    kind: 'compile',
    project: 'project-a',
    filename: 'a.ts',
    source: 'const a: 1 = 1',
    deadlineAtMs: Date.now() + 20_000,
  } as const;
  expect(await handler(event, { tenantId: 'project-a' })).toMatchObject({ kind: 'compiled', format: 'cjs' });
  await expect(handler(event, { tenantId: 'project-b' })).rejects.toThrow('another tenant');
});

test("another tenant's run and a payload that is none are faults", async () => {
  await expect(handler(runOf(bot('return 1')), { tenantId: 'project-b' })).rejects.toThrow('another tenant');
  await expect(handler({ deflated: 'AAAA' })).rejects.toThrow();
});
