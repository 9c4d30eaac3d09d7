import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LoginServices } from '../../functions/login/external/invitation-of-link.ts';
import { signIn } from '../../functions/login/sign-in/sign-in.ts';
import { countFromSource } from '../../functions/login/sign-in/source-attempts.ts';
import { provision } from '../../functions/provision/provision.ts';
import { keys } from '../../shared/table/keys.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { getItem, type Stage, startStage } from './stage.ts';

let stage: Stage;
let services: LoginServices;
const password = 'correct horse battery';
const codeChallenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');
const newAddress = () => `ada-${randomUUID()}@example.com`;

beforeAll(async () => {
  stage = await startStage();
  services = { ...stage.services, keyRings: keyRingsOf(Buffer.alloc(32, 7)) };
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

const login = (email: string, source: string, given = password) =>
  signIn(services, {
    body: { email, password: given, codeChallenge, codeChallengeMethod: 'S256' },
    source,
  });

const failed = (email: string, source: string) =>
  login(email, source, 'Winter2026').catch((error: { kind: string }) => error.kind);

/** How long the next try from the source is made to wait. */
async function waitOf(source: string): Promise<number> {
  const attempt = await countFromSource(services, source, newAddress());
  await attempt.takeBack();
  return attempt.waitMs;
}

test('one password for sixty addresses makes the source wait, and refuses nobody', async () => {
  const source = randomUUID();
  const known = await newMember();
  const answers = await Promise.all(Array.from({ length: 60 }, () => failed(newAddress(), source)));
  expect(new Set(answers)).toEqual(new Set(['invalid']));
  expect(await waitOf(source)).toBe(46 * 50);
  const startedAt = performance.now();
  expect(await login(known, source)).toHaveProperty('code');
  expect(performance.now() - startedAt).toBeGreaterThan(2250);
  // Another source, and the address itself from elsewhere, notice nothing.
  expect(await waitOf(randomUUID())).toBe(0);
});

test('many at once are counted before any of them is answered', async () => {
  const source = randomUUID();
  const waits = await Promise.all(
    Array.from({ length: 40 }, async () => (await countFromSource(services, source, newAddress())).waitMs),
  );
  expect(Math.max(...waits)).toBe(25 * 50);
});

test('a shift of a clinic, where everybody mistypes once, is never slowed nor refused', async () => {
  const source = randomUUID();
  const people = await Promise.all(Array.from({ length: 24 }, newMember));
  for (const email of people) {
    expect(await failed(email, source)).toBe('invalid');
    expect(await login(email, source)).toHaveProperty('code');
  }
  expect(await waitOf(source)).toBe(0);
});

test('one address tried again and again counts once', async () => {
  const source = randomUUID();
  const email = newAddress();
  for (let i = 0; i < 20; i++) await failed(email, source);
  expect(await waitOf(source)).toBe(0);
});

test('more addresses than are told apart wait the longest, and the item stays small', async () => {
  const source = randomUUID();
  await Promise.all(Array.from({ length: 300 }, () => countFromSource(services, source, newAddress())));
  const { waitMs, takeBack } = await countFromSource(services, source, newAddress());
  expect(waitMs).toBe(5000);
  await takeBack();
  const window = Math.floor(stage.clock.nowMs / (15 * 60_000));
  const item = await getItem(services, keys.sourceAttempts(source, window));
  expect(item?.addresses).toHaveProperty('size', 250);
});

test('a quarter of an hour later it is forgotten', async () => {
  const source = randomUUID();
  await Promise.all(Array.from({ length: 60 }, () => countFromSource(services, source, newAddress())));
  stage.clock.nowMs += 15 * 60_000;
  expect(await waitOf(source)).toBe(0);
});
