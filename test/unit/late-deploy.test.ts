import { expect, test } from '@jest/globals';
import { checkCode, compileCode } from '../../shared/bots/bot/deploy-bot.ts';
import type { Invoked, InvokerServices } from '../../shared/bots/run/services.ts';

const deadlineAtMs = 1_000;
const file = { project: 'p', source: 'export const handler = () => 1', filename: 'a.mjs' };
const code = { version: 'v', format: 'esm', filename: 'a.mjs', text: file.source } as const;

type Failed = Exclude<Invoked, { kind: 'result' }>;

/** Both calls of a deploy, to an invoker that answers at an instant what is said. */
const calls = {
  compile: (services: object) =>
    compileCode(services as Parameters<typeof compileCode>[0], { ...file, deadlineAtMs }),
  check: (services: object) =>
    checkCode(services as InvokerServices, {
      ...{ project: 'p', botId: 'b', traceId: 't', code, places: undefined, deadlineAtMs },
    }),
};

test.each<[answer: Failed, atMs: number, kind: string]>([
  [{ kind: 'throttled' }, 0, 'throttled'],
  [{ kind: 'unknown', reason: 'Unhandled' }, deadlineAtMs, 'throttled'],
  [{ kind: 'unknown', reason: 'Unhandled' }, deadlineAtMs - 1, 'unavailable'],
  [{ kind: 'not-started' }, deadlineAtMs, 'not-started'],
])('a deploy whose invoker answers %j at %d ms is refused as %s', async (answer, atMs, kind) => {
  const invoker = { compile: async () => answer, invoke: async () => answer };
  const services = { now: () => atMs, newId: () => 'id', baseUrl: 'https://portico.example', invoker };
  for (const call of Object.values(calls)) await expect(call(services)).rejects.toMatchObject({ kind });
});
