import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { verifyEmail } from '../../functions/login/address/verify-email.ts';
import type { LoginServices } from '../../functions/login/external/invitation-of-link.ts';
import { replaceForgotten } from '../../functions/login/password/replace-forgotten.ts';
import { signIn } from '../../functions/login/sign-in/sign-in.ts';
import { provision } from '../../functions/provision/provision.ts';
import { authorizationCode } from '../../functions/token/authorization-code.ts';
import type { TokenServices } from '../../functions/token/issue-tokens.ts';
import { addressMs, addressUrl } from '../../shared/login/address-link.ts';
import { codeMs } from '../../shared/login/login-code.ts';
import { resetMs, resetUrl } from '../../shared/login/reset-link.ts';
import { keys } from '../../shared/table/keys.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { getItem, type Stage, startStage } from './stage.ts';

const stageSecret = Buffer.alloc(32, 7);
const password = 'correct horse battery';
const codeVerifier = 'v'.repeat(43);
const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');

let stage: Stage;
let services: LoginServices & TokenServices;
let email: string;
let userId: string;

beforeAll(async () => {
  stage = await startStage();
  // Not a whole second, as the times to live of items are.
  stage.clock.nowMs += 1;
  const signer = { kid: 'k', publicJwk: {}, sign: async () => new Uint8Array() };
  services = { ...stage.services, keyRings: keyRingsOf(stageSecret), signer: async () => signer };
});
afterAll(() => stage.stop());

beforeEach(async () => {
  email = `ada-${randomUUID()}@example.com`;
  const admin = { email, firstName: 'Ada', lastName: 'Min', password };
  await provision(services, { name: 'Clinic', admin });
  userId = String((await getItem(services, keys.address(email)))?.userId);
});

/** What each is good for, and until when it is. */
const uses: Record<string, { lastsMs: number; make(): Promise<() => Promise<unknown>> }> = {
  'the code of a sign-in': {
    lastsMs: codeMs,
    async make() {
      const body = { email, password, codeChallenge, codeChallengeMethod: 'S256' };
      const step = await signIn(services, { body, source: randomUUID() });
      const { code } = step as { code: string };
      const sent: Record<string, string> = { code, code_verifier: codeVerifier };
      const request = { grantType: 'authorization_code', client: undefined, usedBasic: false };
      return () => authorizationCode(services, { ...request, parameter: (name) => sent[name] });
    },
  },
  'the link to a new password': {
    lastsMs: resetMs,
    async make() {
      const passwordHash = String((await getItem(services, keys.password(userId)))?.hash);
      const expiresAtMs = services.now() + resetMs;
      const link = await resetUrl('', services.keyRings['reset-link'], {
        userId,
        expiresAtMs,
        passwordHash,
        email,
      });
      return () => replaceForgotten(services, { ...partsOf(link), password: `${password} again` });
    },
  },
  'the link that confirms an address': {
    lastsMs: addressMs,
    async make() {
      const generation = services.now();
      const change = { email: `new-${email}`, generation, count: 1, sinceMs: generation };
      const ttl = Math.ceil((generation + addressMs) / 1000);
      await services.table.put({ ...keys.addressChange(userId), ...change, ttl });
      const link = await addressUrl('', services.keyRings['address-link'], {
        userId,
        generation,
        email: change.email,
      });
      const input = { body: { ...partsOf(link), password }, source: randomUUID(), caller: undefined };
      return () => verifyEmail(services, input);
    },
  },
};

function partsOf(link: string): { id: string; secret: string } {
  const parts = new URLSearchParams(link.split('#')[1]);
  return { id: String(parts.get('id')), secret: String(parts.get('secret')) };
}

describe.each(Object.entries(uses))('%s', (_name, { lastsMs, make }) => {
  test('is good until its very end', async () => {
    const use = await make();
    stage.clock.nowMs += lastsMs - 1;
    await use();
  });

  test('is worth nothing from then on', async () => {
    const use = await make();
    stage.clock.nowMs += lastsMs;
    await expect(use()).rejects.toThrow(/not valid/);
  });
});
