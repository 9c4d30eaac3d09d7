import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import type { LoginServices } from '../../shared/identity/sign-in/invitation-of-link.ts';
import { addressLink, addressMs, linkUrl, resetLink, resetMs } from '../../shared/identity/sign-in/links.ts';
import { replaceForgotten } from '../../shared/identity/sign-in/passwords.ts';
import { codeMs } from '../../shared/identity/sign-in/person-login.ts';
import { signIn } from '../../shared/identity/sign-in/sign-in.ts';
import { undoAddress, undoMs } from '../../shared/identity/sign-in/undo-address.ts';
import { verifyEmail } from '../../shared/identity/sign-in/verify-email.ts';
import { authorizationCode } from '../../shared/identity/tokens/grants.ts';
import type { TokenServices } from '../../shared/identity/tokens/issue-tokens.ts';
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
      const link = await linkUrl(
        '',
        services.keyRings['reset-link'],
        resetLink({
          userId,
          expiresAtMs,
          passwordHash,
          email,
        }),
      );
      return () => replaceForgotten(services, { ...partsOf(link), password: `${password} again` });
    },
  },
  'the link that confirms an address': { lastsMs: addressMs, make: async () => askForAddress() },
  'the link that takes an address back': {
    lastsMs: undoMs,
    async make() {
      const of = { userId, generation: services.now(), email };
      await (await askForAddress())();
      const link = await linkUrl('', services.keyRings['address-link'], addressLink('undo', of));
      return () => undoAddress(services, partsOf(link));
    },
  },
};

async function askForAddress(): Promise<() => Promise<unknown>> {
  const generation = services.now();
  const change = { email: `new-${email}`, generation, count: 1, sinceMs: generation };
  const ttl = Math.ceil((generation + addressMs) / 1000);
  await services.table.put({ ...keys.addressChange(userId), ...change, ttl });
  const of = { userId, generation, email: change.email };
  const link = await linkUrl('', services.keyRings['address-link'], addressLink('verify', of));
  const input = { body: { ...partsOf(link), password }, source: randomUUID(), caller: undefined };
  return () => verifyEmail(services, input);
}

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
