import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Refusal } from '../../shared/base/refusal.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { resetPassword } from '../../shared/identity/sign-in/passwords.ts';
import { signIn } from '../../shared/identity/sign-in/sign-in.ts';
import { authorizationCode, refreshTokens } from '../../shared/identity/tokens/grants.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { callsOf, type Stage, startStage } from './stage.ts';

let stage: Stage;
let email = '';
const password = 'correct horse battery';
const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

beforeAll(async () => {
  stage = await startStage();
  email = `ada-${randomUUID()}@example.com`;
  await provision(stage.services, {
    name: 'Clinic',
    admin: { email, firstName: 'Ada', lastName: 'Min', password },
  });
});
afterAll(() => stage.stop());

const unknown = () => `nobody-${randomUUID()}@example.com`;

function login(address: string, given: string) {
  const body = { email: address, password: given, codeChallenge: challenge, codeChallengeMethod: 'S256' };
  return signIn(
    { ...stage.services, keyRings: keyRingsOf(Buffer.alloc(32)) },
    { body: { ...body, scope: 'offline' }, source: randomUUID() },
  );
}

const refused = (run: Promise<unknown>) =>
  run.catch((error: unknown) => expect(error).toBeInstanceOf(Refusal));

describe('who asks cannot tell from the work done whether an address is known', () => {
  test('at a sign-in with a wrong password', async () => {
    const known = await callsOf(stage.client, () => refused(login(email, 'wrong password')));
    const other = await callsOf(stage.client, () => refused(login(unknown(), 'wrong password')));
    expect(other).toEqual(known);
    expect(known).toEqual(['BatchGetItem', 'BatchGetItem', ...Array(3).fill('UpdateItem')]);
  });

  test('nor from the time, most of which is the hash', async () => {
    const timeOf = async (address: string) => {
      const start = performance.now();
      await refused(login(address, 'wrong password'));
      return performance.now() - start;
    };
    // In turn, so that a machine that gets busier meanwhile slows both.
    const times: [known: number[], other: number[]] = [[], []];
    const nobody = unknown();
    for (let i = 0; i < 9; i++) {
      times[0].push(await timeOf(email));
      times[1].push(await timeOf(nobody));
    }
    const [known, other] = times.map((some) => some.sort((a, b) => a - b)[2] ?? 0);
    const ratio = Number(known) / Number(other);
    expect(ratio).toBeGreaterThan(0.33);
    expect(ratio).toBeLessThan(3);
  });

  test('at a reset', async () => {
    const reset = (address: string) =>
      resetPassword(stage.services, { body: { email: address }, source: randomUUID() });
    const known = await callsOf(stage.client, () => reset(email));
    expect(known).toEqual([...Array(3).fill('UpdateItem'), 'PutItem']);
    expect(await callsOf(stage.client, () => reset(unknown()))).toEqual(known);
  });
});

/** Somebody who has signed in, and their client. */
async function signedIn(sign: () => Promise<Uint8Array>) {
  const signer = { kid: 'k', publicJwk: {}, sign };
  const issuers = openIssuers(openIssuerWeb(stage.services), stage.services.now);
  const services = { ...stage.services, signer: async () => signer, issuers };
  const request = (parameters: Record<string, string>) => ({
    grantType: '',
    parameter: (name: string) => parameters[name],
    client: undefined,
    usedBasic: false,
  });
  const { code = '' } = (await login(email, password)) as { code?: string };
  let refreshToken = '';
  return {
    async exchange() {
      const answer = await authorizationCode(services, request({ code, code_verifier: verifier }));
      refreshToken = answer.refresh_token ?? '';
    },
    async refresh() {
      const answer = await refreshTokens(services, request({ refresh_token: refreshToken }));
      refreshToken = answer.refresh_token ?? '';
    },
  };
}

test('a code costs two reads and one write, a refresh one of each', async () => {
  const { exchange, refresh } = await signedIn(async () => new Uint8Array());
  expect(await callsOf(stage.client, exchange)).toEqual(['BatchGetItem', 'BatchGetItem', 'UpdateItem']);
  expect(await callsOf(stage.client, refresh)).toEqual(['BatchGetItem', 'UpdateItem']);
});

test('neither is spent while KMS does not sign, however long that takes', async () => {
  let isOut = false;
  const { exchange, refresh } = await signedIn(async () => {
    if (isOut) throw new Error('KMS is out');
    return new Uint8Array();
  });
  for (const ask of [exchange, refresh, refresh]) {
    isOut = true;
    await expect(ask()).rejects.toThrow('KMS is out');
    stage.clock.nowMs += 30_000;
    isOut = false;
    await ask();
  }
});
