import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mostResets, usualFailedAddresses } from '../../shared/base/limits.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import type { SourceServices } from '../../shared/identity/sign-in/attempts.ts';
import type { LoginServices } from '../../shared/identity/sign-in/invitation-of-link.ts';
import { resetPassword } from '../../shared/identity/sign-in/passwords.ts';
import { signIn } from '../../shared/identity/sign-in/sign-in.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { callsOf, getItem, type Stage, startStage } from './stage.ts';

let stage: Stage;
let services: LoginServices & SourceServices;
const password = 'correct horse battery';
const codeChallenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');
const newAddress = () => `ada-${randomUUID()}@example.com`;
const quarterMs = 15 * 60_000;
/** What the stage says here: each try costs a hash. */
const bound = 4;

beforeAll(async () => {
  stage = await startStage();
  services = { ...stage.services, keyRings: keyRingsOf(Buffer.alloc(32, 7)), failedAddresses: bound };
});
afterAll(() => stage.stop());

async function newMember(): Promise<string> {
  const email = newAddress();
  await provision(stage.services, {
    name: 'Clinic',
    admin: { email, firstName: 'A', lastName: 'B', password },
  });
  return email;
}

/** What a sign-in came to: `in`, or the kind of its refusal. */
const login = (email: string, source: string, given = password, within = services) =>
  signIn(within, {
    body: { email, password: given, codeChallenge, codeChallengeMethod: 'S256' },
    source,
  }).then(
    () => 'in',
    (error: unknown) => (error instanceof Refusal ? error.kind : Promise.reject(error)),
  );

const failed = (email: string, source: string) => login(email, source, 'Winter2026');
const all = async (many: number, one: () => Promise<string>) => {
  const counted: Record<string, number> = {};
  for (const came of await Promise.all(Array.from({ length: many }, one)))
    counted[came] = (counted[came] ?? 0) + 1;
  return counted;
};

/** A source from which as many addresses have failed as may. */
async function sprayingSource(): Promise<string> {
  const source = randomUUID();
  for (let i = 0; i < bound; i++) expect(await failed(newAddress(), source)).toBe('invalid');
  return source;
}

describe('one password for many addresses from one source', () => {
  test('is refused beyond the bound, until a quarter of an hour is over, and before a password is hashed', async () => {
    const source = await sprayingSource();
    const refusal = await signIn(services, {
      body: { email: newAddress(), password, codeChallenge, codeChallengeMethod: 'S256' },
      source,
    }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'throttled' });
    const { retryAfterSeconds } = refusal as Refusal;
    expect(retryAfterSeconds).toBe(Math.ceil((quarterMs - (stage.clock.nowMs % quarterMs)) / 1000));
    // From elsewhere the same address may be tried.
    expect(await failed(newAddress(), randomUUID())).toBe('invalid');
    stage.clock.nowMs += quarterMs;
    expect(await failed(newAddress(), source)).toBe('invalid');
  });

  test('costs few hashes when all come at once, where the stage says nothing', async () => {
    const source = randomUUID();
    const usual = { ...services, failedAddresses: undefined };
    const { invalid = 0, throttled = 0 } = await all(60, () =>
      login(newAddress(), source, 'Winter2026', usual),
    );
    // Two are hashed at a time, and as many may be on their way to be counted when the bound is reached.
    expect(invalid).toBeGreaterThanOrEqual(usualFailedAddresses);
    expect(invalid).toBeLessThanOrEqual(usualFailedAddresses + 4);
    expect(invalid + throttled).toBe(60);
  });

  test('leaves those to sign in who have signed in there before, or have failed there before', async () => {
    const source = randomUUID();
    const [known, mistyped, stranger] = await Promise.all([newMember(), newMember(), newMember()]);
    expect(await login(known, source)).toBe('in');
    expect(await failed(mistyped, source)).toBe('invalid');
    for (let i = 1; i < bound; i++) await failed(newAddress(), source);
    expect(await login(known, source)).toBe('in');
    expect(await login(stranger, source)).toBe('throttled');
    expect(await login(stranger, randomUUID())).toBe('in');
    expect(await login(mistyped, source)).toBe('in');
    // That one counts no more, so there is room for another.
    expect(await login(stranger, source)).toBe('in');
  });

  test('does not tell who has signed in there: a wrong password of theirs is refused as anybody’s, with the same work', async () => {
    const known = await newMember();
    const source = await sprayingSource();
    stage.clock.nowMs += quarterMs;
    expect(await login(known, source)).toBe('in');
    for (let i = 0; i < bound; i++) await failed(newAddress(), source);
    // One in 256 has the tag of the right one: two in a row are too many.
    const wrong = (email: string) => async () => {
      const [first, second] = [
        await login(email, source, randomUUID()),
        await login(email, source, randomUUID()),
      ];
      expect([first, second]).toContain('throttled');
    };
    const calls = await callsOf(stage.client, wrong(known));
    expect(calls).toEqual(['BatchGetItem', 'BatchGetItem']);
    expect(await callsOf(stage.client, wrong(newAddress()))).toEqual(calls);
    expect(await login(known, source)).toBe('in');
  });

  test('is forgotten of a person who has not been there for a month', async () => {
    const source = randomUUID();
    const known = await newMember();
    expect(await login(known, source)).toBe('in');
    const item = await getItem(services, keys.knownSignIn(source, known));
    expect(Number(item?.ttl)).toBe(Math.ceil(stage.clock.nowMs / 1000) + 30 * 86_400);
    expect(JSON.stringify(item)).not.toContain(known);
    expect(item?.tag).toMatch(/^[0-9a-f]{2}$/);
  });

  test('keeps its item small, however many addresses there are', async () => {
    const source = randomUUID();
    const lenient = { ...services, failedAddresses: 1_000 };
    const window = Math.floor(stage.clock.nowMs / quarterMs);
    const { Key, addresses } = {
      Key: keys.sourceAttempts(source, window),
      addresses: new Set(Array.from({ length: 250 }, () => randomUUID().slice(0, 16))),
    };
    await services.table.put({ ...Key, addresses });
    expect(await login(newAddress(), source, 'Winter2026', lenient)).toBe('invalid');
    expect((await getItem(services, Key))?.addresses).toHaveProperty('size', 250);
  });
});

test('sixty people behind one address sign in at once, each for the first time', async () => {
  const source = randomUUID();
  const people = await Promise.all(Array.from({ length: 60 }, newMember));
  expect(await all(60, () => login(people.pop() ?? '', source))).toEqual({ in: 60 });
});

test('a shift of a clinic, where everybody mistypes once, goes on', async () => {
  const source = randomUUID();
  const people = await Promise.all(Array.from({ length: bound + 4 }, newMember));
  for (const email of people) {
    expect(await failed(email, source)).toBe('invalid');
    expect(await login(email, source)).toBe('in');
  }
});

test('one address tried again and again counts once', async () => {
  const source = randomUUID();
  const email = newAddress();
  const tries = [];
  for (let i = 0; i < 11; i++) tries.push(await failed(email, source));
  expect(tries).toEqual([...Array(10).fill('invalid'), 'throttled']);
  expect(await failed(newAddress(), source)).toBe('invalid');
});

test('a person who is tried from many places keeps three tries at each, and nobody waits', async () => {
  const email = await newMember();
  for (let i = 0; i < 30; i++) expect(await failed(email, randomUUID())).toBe('invalid');
  const source = randomUUID();
  const tries = [];
  for (let i = 0; i < 4; i++) tries.push(await failed(email, source));
  expect(tries).toEqual(['invalid', 'invalid', 'invalid', 'throttled']);
  expect(await login(email, randomUUID())).toBe('in');
});

test('one source asks for the mails of sixty forgotten passwords, and not for more', async () => {
  const source = randomUUID();
  const reset = async () => {
    await resetPassword(services, { body: { email: newAddress() }, source });
    return 'asked';
  };
  expect(await all(mostResets, reset)).toEqual({ asked: mostResets });
  await expect(reset()).rejects.toMatchObject({ kind: 'throttled' });
  stage.clock.nowMs += quarterMs;
  expect(await reset()).toBe('asked');
});
