import { setTimeout as pause } from 'node:timers/promises';
import { InvokeCommand, type InvokeCommandInput, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientOptions } from '../../infra/local/environment.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';
import { invokeService, serveAws } from '../../infra/local/services/aws.ts';

class Full extends Error {
  override readonly name = 'TooManyRequestsException';
}

let api: Listening;
let lambda: LambdaClient;
let seen: unknown[];
const faults: string[] = [];

beforeAll(async () => {
  const service = invokeService({
    isTenanted: true,
    functionNames: ['runner'],
    async invoke(payload, tenantId) {
      seen = [payload, tenantId];
      const { fail, full, length } = payload as { fail?: string; full?: boolean; length?: number };
      if (full) throw new Full();
      if (fail) throw new TypeError(fail);
      return length ? 'a'.repeat(length) : { payload };
    },
    onEventFault: ({ message }) => faults.push(message),
  });
  api = await serveAws(service);
  lambda = new LambdaClient({ ...clientOptions, endpoint: api.url, maxAttempts: 1 });
});
afterAll(async () => {
  lambda.destroy();
  await api.stop();
});

async function invoke(payload: unknown, more: Partial<InvokeCommandInput> = {}) {
  const { Payload, $metadata, ...rest } = await lambda.send(
    new InvokeCommand({ FunctionName: 'runner', TenantId: 'one', Payload: JSON.stringify(payload), ...more }),
  );
  const text = Buffer.from(Payload ?? []).toString('utf8');
  return { status: $metadata.httpStatusCode, result: text && JSON.parse(text), ...rest };
}

describe('the Invoke API', () => {
  test('runs a function for its tenant', async () => {
    expect(await invoke({ text: 'ü' }, { TenantId: 'a/b c' })).toMatchObject({
      status: 200,
      result: { payload: { text: 'ü' } },
      ExecutedVersion: '$LATEST',
    });
    expect(seen).toEqual([{ text: 'ü' }, 'a/b c']);
  });

  test('tells an error of the function from one of the service', async () => {
    expect(await invoke({ fail: 'no' })).toMatchObject({
      status: 200,
      FunctionError: 'Unhandled',
      result: { errorType: 'TypeError', errorMessage: 'no' },
    });
    await expect(invoke({ full: true })).rejects.toMatchObject({
      name: 'TooManyRequestsException',
      $metadata: { httpStatusCode: 429 },
    });
  });

  test('answers an Event at once; its errors are told to the host alone', async () => {
    expect(await invoke({ fail: 'later' }, { InvocationType: 'Event' })).toMatchObject({
      status: 202,
      result: '',
    });
    for (let waited = 0; faults.length === 0 && waited < 2_000; waited++) await pause(10);
    expect([seen, faults]).toEqual([[{ fail: 'later' }, 'one'], ['later']]);
  });

  test.each([
    ['another function', {}, { FunctionName: 'other' }, 'ResourceNotFoundException'],
    ['no tenant', {}, { TenantId: undefined }, 'InvalidParameterValueException'],
    ['over 6 MB', 'a'.repeat(6_291_556), {}, 'RequestTooLargeException'],
    [
      'an Event over 1 MB',
      'a'.repeat(1_048_576),
      { InvocationType: 'Event' as const },
      'RequestTooLargeException',
    ],
  ])('refuses %s', async (_what, payload, more, name) => {
    await expect(invoke(payload, more as Partial<InvokeCommandInput>)).rejects.toMatchObject({ name });
  });

  test('a result over 6 MB is an error of the function', async () => {
    expect((await invoke({ length: 6_000_000 })).result).toHaveLength(6_000_000);
    expect(await invoke({ length: 6_291_556 })).toMatchObject({
      FunctionError: 'Unhandled',
      result: { errorType: 'Function.ResponseSizeTooLarge' },
    });
  });
});
