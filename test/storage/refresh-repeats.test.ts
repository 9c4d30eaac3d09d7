import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Login, loginOf } from '../../shared/identity/sign-in/logins.ts';
import {
  newRefreshToken,
  parseRefreshToken,
  type RefreshToken,
} from '../../shared/identity/sign-in/person-login.ts';
import { successorOf } from '../../shared/identity/tokens/grants.ts';
import { spendCode } from '../../shared/identity/tokens/person-grant.ts';
import { disturbed, faults } from '../faults/inject.ts';
import fc from '../setup/fast-check.ts';
import { callsOf, getItem, type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const parse = (text: string | undefined) => parseRefreshToken(text) as RefreshToken;

/** A login with its first refresh token. */
async function newLogin(): Promise<{ loginId: string; first: RefreshToken }> {
  const loginId = randomUUID();
  const made = newRefreshToken({ loginId, project: 'p', membershipId: 'm' });
  await stage.services.table.put({
    ...keys.login(loginId),
    kind: 'person',
    subject: 'somebody',
    clientId: '',
    scope: 'openid offline_access',
    createdAtMs: stage.clock.nowMs,
    refreshFamilyHash: made.familyHash,
    refreshHash: made.secretHash,
  });
  return { loginId, first: parse(made.text) };
}

async function loginItem(id: string): Promise<Login> {
  return loginOf((await getItem(stage.services, keys.login(id))) ?? {});
}

const show = async (token: RefreshToken): Promise<string | undefined> => {
  const login = await loginItem(token.loginId);
  return successorOf(stage.services, login, token);
};

test('a repeat within ten seconds gives the same successor, later none', async () => {
  const { first } = await newLogin();
  const next = await show(first);
  stage.clock.nowMs += 9_999;
  expect(await show(first)).toBe(next);
  stage.clock.nowMs += 1;
  expect(await show(first)).toBeUndefined();
  expect(await show(parse(next))).toBeDefined();
});

test('a repeat writes nothing', async () => {
  const { first } = await newLogin();
  const login = await loginItem(first.loginId);
  expect(await callsOf(stage.client, () => successorOf(stage.services, login, first))).toEqual([
    'UpdateItem',
  ]);
  expect(await callsOf(stage.client, () => show(first))).toEqual(['BatchGetItem']);
});

test('what was read before a rotation by another leads to the successor of that one', async () => {
  const { first } = await newLogin();
  const stale = await loginItem(first.loginId);
  const next = await show(first);
  expect(await successorOf(stage.services, stale, first)).toBe(next);
  // Once the successor is used, a repeat of the first is a theft.
  await show(parse(next));
  expect(await successorOf(stage.services, stale, first)).toBeUndefined();
});

test('a login that has ended meanwhile has no successor', async () => {
  const { first, loginId } = await newLogin();
  const stale = await loginItem(loginId);
  await show(first);
  await stage.services.table.update({
    Key: keys.login(loginId),
    UpdateExpression: 'SET revoked = :true',
    ExpressionAttributeValues: { ':true': true },
  });
  expect(await successorOf(stage.services, stale, first)).toBeUndefined();
});

test('however tokens are shown, in whatever order and at once: there is one line of successors', async () => {
  const steps = fc.array(
    fc.record({
      at: fc.nat(30),
      times: fc.integer({ min: 1, max: 4 }),
      later: fc.constantFrom(0, 400, 9_000, 11_000),
    }),
    { minLength: 1, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (walk) => {
      const { first } = await newLogin();
      const line = [first];
      for (const { at, times, later } of walk) {
        stage.clock.nowMs += later;
        const index = at % line.length;
        const token = line[index] as RefreshToken;
        const shown = await Promise.all(Array.from({ length: times }, () => show(token)));
        const given = new Set(shown.filter((text) => text !== undefined));
        expect(given.size).toBeLessThanOrEqual(1);
        const [text] = given;
        if (index < line.length - 2) expect(text).toBeUndefined();
        if (index === line.length - 2 && text !== undefined) expect(parse(text)).toEqual(line.at(-1));
        if (index === line.length - 1) {
          expect(shown).toEqual(Array(times).fill(text));
          expect(text).toBeDefined();
          line.push(parse(text));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a code whose exchange is written and whose answer is lost is spent once', async () => {
  const { loginId } = await newLogin();
  const login = await loginItem(loginId);
  const spend = () => spendCode(stage.services, login, undefined);
  const { result } = await disturbed(stage.client, { n: 1, fault: faults['is not answered'] }, spend);
  expect(result).toEqual({ status: 'fulfilled', value: true });
  expect(await spend()).toBe(false);
});
