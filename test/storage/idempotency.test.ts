import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Refusal } from '../../shared/base/refusal.ts';
import { newDisclosure } from '../../shared/carry/disclosure.ts';
import { ConditionFailed, OutcomeUnknown } from '../../shared/carry/table/transact.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { type Claim, claimOnce, keptItem, newClaim, releaseClaim } from '../../shared/identity/gate/claim.ts';
import { once } from '../../shared/identity/gate/once.ts';
import { getItem, newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

const windowMs = 20_000;

function claimOf(change: Partial<Claim> = {}, idempotencyKey = stage.services.newId(), content = ['body']) {
  const once = { idempotencyKey, route: 'POST /x', content };
  const attempt = {
    id: stage.services.newId(),
    untilMs: stage.clock.nowMs + windowMs,
    afterCrash: 'refuse' as const,
  };
  return { ...newClaim(caller, once, attempt), ...change };
}

/** The same request once more. */
function again(claim: Claim): Claim {
  return { ...claim, id: stage.services.newId(), untilMs: stage.clock.nowMs + windowMs };
}

function take(claim: Claim) {
  return claimOnce(stage.services, claim, () => getItem(stage.services, claim.key));
}

function keep(claim: Claim, result: unknown) {
  return stage.services.table.put(keptItem(stage.services, claim, result));
}

describe('a key', () => {
  test('is claimed by one of many at once, the others are told to wait', async () => {
    const claim = claimOf();
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => take(again(claim))));
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of taken) {
      if (one.status === 'rejected') {
        expect(one.reason).toMatchObject({ kind: 'conflict', retryAfterSeconds: 21 });
      }
    }
  });

  test('that was used answers what was answered, for a day', async () => {
    const claim = claimOf();
    await take(claim);
    await keep(claim, { a: 1 });
    const startMs = stage.clock.nowMs;
    stage.clock.nowMs += 86_400_000 - 1000;
    expect(await take(again(claim))).toEqual({ result: { a: 1 } });
    stage.clock.nowMs += 2000;
    expect(await take(again(claim))).toBeUndefined();
    stage.clock.nowMs = startMs;
  });

  test('is refused for another body, done or not', async () => {
    const key = stage.services.newId();
    const first = claimOf({}, key);
    const other = claimOf({}, key, ['another']);
    await take(first);
    await expect(take(other)).rejects.toMatchObject({ kind: 'unprocessable' });
    await keep(first, 1);
    await expect(take(other)).rejects.toMatchObject({ kind: 'unprocessable' });
  });

  test('does not take two bodies for one that only run together alike', async () => {
    const key = stage.services.newId();
    expect(claimOf({}, key, ['a', 'b']).fingerprint).not.toBe(claimOf({}, key, ['ab', '']).fingerprint);
  });

  test('is of one membership and one route', () => {
    const once = { idempotencyKey: 'k', route: 'POST /x', content: ['body'] };
    const attempt = { id: '1', untilMs: 0, afterCrash: 'refuse' as const };
    const pks = [
      newClaim(caller, once, attempt),
      newClaim({ ...caller, membershipId: 'other' }, once, attempt),
      newClaim(caller, { ...once, route: 'POST /y' }, attempt),
      newClaim({ ...caller, project: 'other' }, once, attempt),
    ].map(({ key }) => key.pk);
    expect(new Set(pks).size).toBe(4);
    for (const pk of pks) expect(pk).toMatch(/^P#[^#]+#IDEMPOTENCY#[0-9a-f]{64}$/);
  });

  test('is free again when nothing was done', async () => {
    const claim = claimOf();
    await take(claim);
    await releaseClaim(stage.services, claim);
    expect(await take(claimOf({ key: claim.key, fingerprint: 'other' }))).toBeUndefined();
  });
});

describe('a process that died between claim and result', () => {
  test('blocks until its time is over, then nobody knows: refused with the id of the attempt', async () => {
    const claim = claimOf();
    await take(claim);
    stage.clock.nowMs += windowMs;
    await expect(take(again(claim))).rejects.toMatchObject({ retryAfterSeconds: 1 });
    stage.clock.nowMs += 1;
    const refused = take(again(claim));
    await expect(refused).rejects.toMatchObject({
      kind: 'outcome-unknown',
      retryAfterSeconds: undefined,
    });
    await expect(refused).rejects.toThrow(claim.id);
  });

  test('is taken over where doing it twice does no harm, by one, for the same body only', async () => {
    const claim = claimOf({ afterCrash: 'repeat' });
    await take(claim);
    stage.clock.nowMs += windowMs + 1;
    const other = { ...again(claim), fingerprint: 'other' };
    await expect(take(other)).rejects.toMatchObject({ kind: 'unprocessable' });
    const taken = await Promise.allSettled([take(again(claim)), take(again(claim)), take(again(claim))]);
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('and wakes up again takes nothing from the one that took over', async () => {
    const claim = claimOf({ afterCrash: 'repeat' });
    await take(claim);
    stage.clock.nowMs += windowMs + 1;
    const second = again(claim);
    await take(second);
    await releaseClaim(stage.services, claim);
    await expect(take(again(claim))).rejects.toMatchObject({ kind: 'conflict' });
    await keep(second, 'second');
    expect(await take(again(claim))).toEqual({ result: 'second' });
  });
});

describe('a route that honours a key', () => {
  async function asked(key: string, run: () => Promise<unknown>, change: object = {}) {
    const options = { windowMs, afterCrash: 'refuse' as const, ...change };
    const handle = once(stage.services, {
      ...options,
      run,
      answer: (body) => ({ statusCode: 200, body: String(body) }),
    });
    const { body, headers } = await handle({
      ...{ method: 'POST', rawPath: '/', route: 'POST /x', params: {}, query: new URLSearchParams() },
      ...{ cookie: () => undefined, bodyBytes: 0, bytes: () => undefined, source: '', receivedAtMs: 0 },
      ...{ traceId: '', disclosure: newDisclosure(), caller, headers: { 'idempotency-key': key } },
    });
    return [body, headers?.['idempotency-replayed']];
  }
  const fails = (error: Error) => async () => {
    throw error;
  };

  test.each<[string, Error, boolean]>([
    ['a refusal', new Refusal('conflict', 'no'), true],
    ['a condition that failed', new ConditionFailed(new Set()), false],
    ['a write of which nobody knows', new OutcomeUnknown('lost'), false],
    ['a fault', new Error('x'), false],
  ])('frees it after %s only when nothing was done', async (_, error, isFree) => {
    const key = stage.services.newId();
    await expect(asked(key, fails(error))).rejects.toBe(error);
    const next = asked(key, async () => 'done');
    if (isFree) expect(await next).toEqual(['done', undefined]);
    else await expect(next).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('does not put its answer over that of an attempt which has taken over', async () => {
    const key = stage.services.newId();
    const again = { afterCrash: 'repeat' };
    const late = await asked(
      key,
      async () => {
        stage.clock.nowMs += windowMs + 1;
        expect(await asked(key, async () => 'second', again)).toEqual(['second', undefined]);
        return 'first';
      },
      again,
    );
    expect(late).toEqual(['first', undefined]);
    expect(await asked(key, fails(new Error('ran again')), again)).toEqual(['second', 'true']);
  });

  test('carries out anew what was not final, and keeps of a result what may be repeated', async () => {
    const key = stage.services.newId();
    const change = { isFinal: (result: unknown) => result !== 'not yet', keep: () => 'without the secret' };
    expect(await asked(key, async () => 'not yet', change)).toEqual(['not yet', undefined]);
    expect(await asked(key, async () => 'secret', change)).toEqual(['secret', undefined]);
    expect(await asked(key, fails(new Error('ran again')), change)).toEqual(['without the secret', 'true']);
  });
});

test('a write that the SDK repeated, its first answer lost, is still its own', async () => {
  const claim = claimOf();
  await take(claim);
  expect(await take(claim)).toBeUndefined();
});

test('an answer that no item holds is not kept, and a repeat is told so', async () => {
  const claim = claimOf();
  await take(claim);
  const { randomBytes } = await import('node:crypto');
  await keep(claim, randomBytes(400_000).toString('base64'));
  await expect(take(again(claim))).rejects.toMatchObject({
    kind: 'outcome-unknown',
    message: expect.stringContaining('too long to be kept'),
  });
  const compressible = claimOf();
  await take(compressible);
  await keep(compressible, 'x'.repeat(4_000_000));
  expect(await take(again(compressible))).toEqual({ result: 'x'.repeat(4_000_000) });
});
