import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Key } from '../../shared/carry/table/keys.ts';
import { ConditionFailed, OutcomeUnknown } from '../../shared/carry/table/transact.ts';
import { getItem, type Stage, startStage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});
afterEach(heal);
afterAll(() => stage.stop());

function heal(): void {
  stage.client.middlewareStack.remove('fault');
}

/** What goes wrong at one attempt: thrown instead of sending, or after it was sent and its answer lost. */
interface Fault {
  error: Error;
  sent?: boolean;
}

/** Injects faults into the next attempts, the SDK's own repeats included; answers the tokens that were sent. */
function inject(...faults: Fault[]): string[] {
  const tokens: string[] = [];
  stage.client.middlewareStack.add(
    (next) => async (args) => {
      const { body } = args.request as { body: Uint8Array };
      tokens.push(String(JSON.parse(new TextDecoder().decode(body)).ClientRequestToken));
      const fault = faults.shift();
      if (!fault) return next(args);
      if (fault.sent) await next(args);
      throw fault.error;
    },
    { step: 'finalizeRequest', priority: 'low', name: 'fault' },
  );
  return tokens;
}

function cancelled(...codes: string[]): Error {
  return new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
}

function broken(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
}

function late(): Error {
  return Object.assign(new Error('no answer'), { name: 'TimeoutError' });
}

function internal(): Error {
  return Object.assign(new Error('x'), {
    name: 'InternalServerError',
    $fault: 'server',
    $metadata: { httpStatusCode: 500 },
  });
}

function throttled(): Error {
  return Object.assign(new Error('x'), {
    name: 'ThrottlingException',
    $fault: 'client',
    $metadata: { httpStatusCode: 400 },
  });
}

function newKey(): Item {
  return { pk: `T#${randomUUID()}`, sk: 'HEAD' };
}

/** Counts how often it was applied. */
function add(key: Key) {
  return { name: 'add', update: key, set: 'ADD applied :one', values: { ':one': 1 } };
}

async function applied(key: Key): Promise<unknown> {
  return (await getItem(stage.services, key))?.applied;
}

describe('transact', () => {
  test.each([
    ['a conflict', () => cancelled('TransactionConflict', 'None')],
    ['throttling inside', () => cancelled('None', 'ThrottlingError')],
    ['a partition that is too busy', () => cancelled('ProvisionedThroughputExceeded', 'TransactionConflict')],
  ])('tries again after %s, as another request', async (_, make) => {
    const key = newKey();
    const tokens = inject({ error: make() }, { error: make() });
    await stage.services.table.transact([add(key), add(newKey())]);
    heal();
    expect(await applied(key)).toBe(1);
    expect(new Set(tokens).size).toBe(3);
  });

  test('gives up after ten conflicts, with nothing written', async () => {
    const key = newKey();
    const tokens = inject(...Array.from({ length: 10 }, () => ({ error: cancelled('TransactionConflict') })));
    await expect(stage.services.table.transact([add(key)])).rejects.toThrow(TransactionCanceledException);
    expect(tokens).toHaveLength(10);
    heal();
    expect(await applied(key)).toBeUndefined();
  });

  test.each([
    ['the answer is lost', broken],
    ['the service fails inside', internal],
    ['the request is throttled', throttled],
  ])('is applied once when %s, whether it was carried out or not', async (_, make) => {
    for (const sent of [true, false]) {
      const key = newKey();
      const tokens = inject({ error: make(), sent }, { error: make() });
      await stage.services.table.transact([add(key)]);
      heal();
      expect(await applied(key)).toBe(1);
      expect([tokens.length, new Set(tokens).size]).toEqual([3, 1]);
    }
  });

  test.each([
    ['the connection breaks and it was carried out', broken, true],
    ['the connection breaks and it was not', broken, false],
    ['no answer comes in time and it was carried out', late, true],
    ['the service fails inside and it was carried out', internal, true],
  ])('says that the outcome is unknown when %s', async (_, make, sent) => {
    const key = newKey();
    inject(...Array.from({ length: 20 }, () => ({ error: make(), sent })));
    await expect(stage.services.table.transact([add(key)])).rejects.toThrow(OutcomeUnknown);
    heal();
    expect(await applied(key)).toBe(sent ? 1 : undefined);
  });

  test('names the actions whose conditions failed, and writes none of the others', async () => {
    const [taken, free] = [newKey(), newKey()];
    await stage.services.table.put(taken);
    const absent = 'attribute_not_exists(pk)';
    const write = stage.services.table.transact([
      { name: 'first', put: free, if: absent },
      { name: 'second', put: taken, if: absent },
      { name: 'third', check: newKey(), if: 'attribute_exists(pk)' },
    ]);
    await expect(write).rejects.toMatchObject({ failed: new Set(['second', 'third']) });
    expect(await getItem(stage.services, free)).toBeUndefined();
  });

  test('does not repeat a failed condition, even beside a conflict', async () => {
    const tokens = inject({ error: cancelled('ConditionalCheckFailed', 'TransactionConflict') });
    const write = stage.services.table.transact([add(newKey()), add(newKey())]);
    await expect(write).rejects.toThrow(ConditionFailed);
    expect(tokens).toHaveLength(1);
  });

  test('does not repeat what can never succeed', async () => {
    const tokens = inject({ error: cancelled('ValidationError') });
    await expect(stage.services.table.transact([add(newKey())])).rejects.toThrow(
      TransactionCanceledException,
    );
    expect(tokens).toHaveLength(1);
  });
});

describe('read', () => {
  test('asks again for keys that were left unprocessed', async () => {
    const wanted = Array.from({ length: 5 }, newKey);
    for (const key of wanted) await stage.services.table.put(key);
    leaveUnprocessed(2);
    const found = await stage.services.table.read(wanted);
    expect(wanted.map((key) => found.get(key) !== undefined)).toEqual(wanted.map(() => true));
  });

  test('gives up when keys stay unprocessed', async () => {
    leaveUnprocessed(Number.POSITIVE_INFINITY);
    await expect(stage.services.table.read([newKey()])).rejects.toThrow('unprocessed');
  });

  test('counts what has expired as absent, before it is swept', async () => {
    const key = newKey();
    await stage.services.table.put({ ...key, ttl: stage.clock.nowMs / 1000 });
    expect(await getItem(stage.services, key)).toBeUndefined();
    stage.clock.nowMs -= 1;
    expect(await getItem(stage.services, key)).toBeDefined();
  });

  /** All but one key of each answer, for so many answers. */
  function leaveUnprocessed(times: number): void {
    let left = times;
    stage.client.middlewareStack.add(
      (next) => async (args) => {
        const input = args.input as { RequestItems: Record<string, { Keys: Key[] }> };
        const keep = left === Number.POSITIVE_INFINITY ? 0 : 1;
        if (left-- <= 0) return next(args);
        const asked = input.RequestItems[stage.tableName]?.Keys ?? [];
        const answered = {
          RequestItems: { [stage.tableName]: { Keys: asked.slice(0, keep), ConsistentRead: true } },
        };
        const rest = { [stage.tableName]: { Keys: asked.slice(keep) } };
        if (keep === 0)
          return { response: {}, output: { $metadata: {}, Responses: {}, UnprocessedKeys: rest } } as never;
        const result = await next({ ...args, input: answered as never });
        return { ...result, output: { ...result.output, UnprocessedKeys: rest } as never };
      },
      { step: 'initialize', name: 'fault', priority: 'low' },
    );
  }
});
