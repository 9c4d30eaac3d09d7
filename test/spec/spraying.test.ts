import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { newAddress, password, pkce, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const attempt = (email: string, given: string, forwardedFor: string) =>
  portico.api('POST', 'auth/login', {
    token: null,
    body: { email, password: given, ...pkce },
    headers: { 'x-forwarded-for': forwardedFor },
  });

async function msOf(run: () => Promise<{ status: number }>, status: number): Promise<number> {
  const startedAt = performance.now();
  expect((await run()).status).toBe(status);
  return performance.now() - startedAt;
}

test('forty addresses tried from one source are slowed, whatever the caller says of itself; nobody is refused', async () => {
  const { email } = await at.newMember();
  let before = await msOf(() => attempt(email, password, '192.0.2.1'), 200);
  // A busy machine may slow one answer; it does not slow each of them.
  for (let turn = 0; turn < 5 && before > 1300; turn++)
    before = await msOf(() => attempt(email, password, '192.0.2.1'), 200);
  const tries = await Promise.all(
    Array.from({ length: 40 }, (_, i) => attempt(newAddress(), 'Winter2026', `198.51.100.${i}`)),
  );
  expect(tries.filter(({ status }) => status !== 400)).toEqual([]);
  // 41 addresses, fifteen of which are free, 50 ms for each more.
  const after = await msOf(() => attempt(email, password, '192.0.2.1'), 200);
  expect(after).toBeGreaterThan(1300);
  expect(after).toBeGreaterThan(before);
});
