import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { useLocalCredentials } from '../../infra/local/environment.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';
import { invokeService, serveAws } from '../../infra/local/services/aws.ts';
import { lambdaInvoker } from '../../shared/aws/lambda.ts';
import { SandboxNotStarted } from '../../shared/bots/sandbox/child-process.ts';
import { bot, runOf } from '../sandbox/bot-runs.ts';

let api: Listening;
let answer: () => Promise<unknown>;

beforeAll(async () => {
  useLocalCredentials();
  const service = invokeService({
    functionNames: ['invoker'],
    isTenanted: true,
    invoke: () => answer(),
    onEventFault: () => undefined,
  });
  api = await serveAws(service);
});
afterAll(() => api.stop());

const invoked = (error: Error) => answered(() => Promise.reject(error));
const answered = (how: () => Promise<unknown>) => {
  answer = how;
  const deadlineAtMs = Date.now() + 20_000;
  return lambdaInvoker('invoker', api.url).invoke(runOf(bot('return 1'), { deadlineAtMs }));
};

test('a sandbox that did not start has run nothing: the caller may repeat', async () => {
  expect(await invoked(new SandboxNotStarted('no library'))).toEqual({ kind: 'not-started' });
});

test('of any other fault nobody knows whether the Bot ran', async () => {
  expect(await invoked(new Error('died'))).toEqual({ kind: 'unknown', reason: 'Unhandled' });
});

test('an invoker that is not there has run nothing, and is a fault of the stage', async () => {
  const invoker = lambdaInvoker('another', api.url);
  const run = runOf(bot('return 1'), { deadlineAtMs: Date.now() + 20_000 });
  await expect(invoker.invoke(run)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test.each([{}, 'text', null, { outcome: { kind: 'limit', limit: 'patience', message: '' } }])(
  'nor what came of it when the answer is no result: %j',
  async (said) => {
    expect(await answered(async () => said)).toEqual({ kind: 'unknown', reason: 'no result' });
  },
);
