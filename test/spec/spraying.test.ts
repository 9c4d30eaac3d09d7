import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { newAddress, password, pkce, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico({});
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const attempt = (email: string, given: string, forwardedFor: string) =>
  portico.api('POST', 'auth/login', {
    token: null,
    body: { email, password: given, ...pkce },
    headers: { 'x-forwarded-for': forwardedFor },
  });

test('forty addresses tried from one source are refused beyond the bound, whatever the caller says of itself; who has signed in there goes on', async () => {
  const { email } = await at.newMember();
  expect((await attempt(email, password, '192.0.2.1')).status).toBe(200);
  const tries = await Promise.all(
    Array.from({ length: 40 }, (_, i) => attempt(newAddress(), 'Winter2026', `198.51.100.${i}`)),
  );
  const refused = tries.filter(({ status }) => status !== 400);
  expect(refused.length).toBeGreaterThan(10);
  for (const { status, json, headers } of refused) {
    expect([status, json.issue[0].code]).toEqual([429, 'throttled']);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(900);
  }
  expect((await attempt(newAddress(), 'Winter2026', '203.0.113.9')).status).toBe(429);
  expect((await attempt(email, password, '192.0.2.1')).status).toBe(200);
});
