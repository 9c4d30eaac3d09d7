import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailedLink, mailedReset } from './mailed-link.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { newAddress, password, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
/** Of whom nothing changes but their logins. */
let person: Awaited<ReturnType<SigningIn['newMember']>>;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  person = await at.newMember();
});
afterAll(() => portico.stop());

/** The helpers of `signingIn`, by the names that these specs use. */
const newMember: SigningIn['newMember'] = (change) => at.newMember(change);
const login: SigningIn['login'] = (email, change) => at.login(email, change);
const exchange: SigningIn['exchange'] = (code, change) => at.exchange(code, change);
const me: SigningIn['me'] = (token) => at.me(token);

describe('signing in', () => {
  test('leads from the mail to a token of the membership', async () => {
    const { email, membership } = person;
    const answer = await me((await at.signIn(email)).access_token);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ user: { email }, membership: { id: membership, active: true } });
  });

  test('is noted for this Project, and shown to its administrators', async () => {
    const { email, membership } = await newMember();
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    const lastSignIn = ({ json }: Answer) =>
      json.extension.find(({ url }: { url: string }) => url === 'urn:portico:extension:last-sign-in');
    const before = await portico.api('GET', path);
    expect(lastSignIn(before)).toBeUndefined();
    const startedAtMs = Date.now();
    await at.signIn(email);
    const after = await portico.api('GET', path);
    expect(Date.parse(lastSignIn(after).valueInstant)).toBeGreaterThanOrEqual(startedAtMs);
    expect(after.json.meta.versionId).toBe(before.json.meta.versionId);
  });

  test('answers one text for an unknown address and a wrong password', async () => {
    const { email } = person;
    const [unknown, wrong] = [await login(newAddress()), await login(email, { password: 'wrong password' })];
    expect([unknown.status, unknown.json]).toEqual([400, wrong.json]);
    expect(wrong.json.issue[0].details.text).toBe('Email or password is invalid');
  });

  test('is slowed for one source and one address', async () => {
    const { email } = await newMember();
    const tries = await Promise.all(
      Array.from({ length: 12 }, () => login(email, { password: 'wrong one' })),
    );
    expect(tries.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(2);
    const refused = await login(email);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await login(person.email)).status).toBe(200);
  });

  test('needs PKCE', async () => {
    const { email } = person;
    expect((await login(email, { codeChallenge: undefined })).status).toBe(400);
    const { code } = (await login(email)).json;
    expect((await exchange(code, { code_verifier: 'x'.repeat(43) })).json).toMatchObject({
      error: 'invalid_grant',
    });
    expect((await exchange(code)).json).toMatchObject({ error: 'invalid_grant' });
  });

  test('gives one token for a code; a second use ends the login', async () => {
    const { code } = (await login(person.email)).json;
    const first = await exchange(code);
    expect((await me(first.json.access_token)).status).toBe(200);
    expect((await exchange(code)).status).toBe(400);
    expect((await me(first.json.access_token)).status).toBe(401);
  });

  test('asks a known person which membership, and choosing an invitation accepts it', async () => {
    const { email, membership } = await newMember();
    const invited = await at.invite(email, 1, { sendEmail: false });
    const { json } = await login(email);
    expect(json.code).toBeUndefined();
    expect(json.memberships.map(({ id }: { id: string }) => id).sort()).toEqual(
      [membership, invited.id].sort(),
    );
    const wrong = await at.post('auth/profile', { login: json.login, profile: randomUUID() });
    expect(wrong.status).toBe(400);
    const chosen = await at.post('auth/profile', { login: json.login, profile: invited.id });
    expect(chosen.status).toBe(200);
    expect((await at.post('auth/profile', { login: json.login, profile: membership })).status).toBe(400);
    const { access_token } = (await exchange(chosen.json.code)).json;
    expect((await me(access_token)).json).toMatchObject({
      membership: { id: invited.id, active: true },
      project: { id: portico.projects[1]?.id },
    });
    const own = await login(email, { projectId: portico.projects[0]?.id });
    expect((await me((await exchange(own.json.code)).json.access_token)).json.membership.id).toBe(membership);
  });

  test('is not enough with a password where the membership wants an issuer or a second factor', async () => {
    const { email, membership } = await newMember();
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    expect((await portico.api('POST', path, { body: { mfaRequired: true } })).status).toBe(200);
    const { json } = await login(email);
    expect([json.code, json.memberships, json.mfaEnrollRequired]).toEqual([undefined, undefined, true]);
    const body = { mfaRequired: false, authentication: { issuer: 'https://i.example' } };
    expect((await portico.api('POST', path, { body })).status).toBe(200);
    expect((await login(email)).status).toBe(400);
  });
});

const hostile: unknown[] = [{ toString: 1 }, ['x'], 7, true, { $ne: 1 }];

test.each(['email', 'password', 'clientId', 'projectId', 'scope', 'codeChallenge', 'redirectUri', 'nonce'])(
  'a sign-in with anything but text as %s is refused by that field',
  async (field) => {
    for (const value of hostile) {
      const answer = await login(newAddress(), { [field]: value });
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
    }
  },
);

test.each([
  'auth/setpassword',
  'auth/profile',
  'auth/resetpassword',
  'auth/mfa/verify',
  'auth/mfa/login-enroll',
])('POST %s with anything but text is refused, never a fault', async (path) => {
  for (const one of hostile) {
    for (const fields of [
      { id: one, secret: one, password: one, login: one, profile: one, token: one, email: one },
      { id: `x.${1e12}`, secret: one, login: randomUUID(), token: one, email: one },
    ]) {
      expect((await at.post(path, fields)).status).toBe(400);
    }
  }
  for (const body of ['[]', 'null', '"x"', '7']) {
    const headers = { 'content-type': 'application/json' };
    expect((await portico.api('POST', path, { body, headers, token: null })).status).toBe(400);
  }
});

describe('a signed-in person', () => {
  test('has a token that is useless once they sign out', async () => {
    const { email } = await newMember();
    const token = (await at.signIn(email)).access_token;
    expect((await portico.api('POST', 'oauth2/logout', { token })).status).toBe(200);
    expect((await me(token)).status).toBe(401);
  });

  test('has a token that is useless once the membership is removed or inactive', async () => {
    const { email, membership } = await newMember();
    const token = (await at.signIn(email)).access_token;
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    await portico.api('POST', path, { body: { active: false } });
    expect((await me(token)).status).toBe(401);
    expect((await login(email)).status).toBe(400);
    await portico.api('POST', path, { body: { active: true } });
    expect((await me(token)).status).toBe(401);
    const later = (await at.signIn(email)).access_token;
    expect((await me(later)).status).toBe(200);
    await portico.api('DELETE', path);
    expect((await me(later)).status).toBe(401);
  });

  test('does not leave it by an app that has scopes for resources', async () => {
    const { email, membership } = await newMember();
    const token = (await at.signIn(email, { scope: 'user/*.cruds' })).access_token;
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    expect((await portico.api('DELETE', path, { token })).status).toBe(403);
    expect((await me(token)).status).toBe(200);
  });

  test('who lives in one Project signs in by the address there, also beside an external id', async () => {
    const [project] = portico.projects;
    for (const change of [{}, { externalId: `ext-${randomUUID()}` }]) {
      const email = newAddress();
      await at.invite(email, 0, { scope: 'project', ...change });
      const link = await mailedLink(portico, email);
      expect((await at.post('auth/setpassword', { ...link, password })).status).toBe(200);
      const here = { projectId: project?.id };
      expect((await at.login(email, here)).json.code).toBeDefined();
      expect((await at.login(email, { clientId: project?.clientId })).json.code).toBeDefined();
      expect((await at.login(email)).status).toBe(400);
      expect((await at.login(email, { projectId: portico.projects[1]?.id })).status).toBe(400);
      expect((await at.post('auth/resetpassword', { email, ...here })).status).toBe(200);
      expect((await mailedReset(portico, email)).id).toMatch(/\.\d{13}$/);
    }
  });

  test('may leave the Project, and administers nothing', async () => {
    const { email, membership } = await newMember();
    const other = await newMember();
    const token = (await at.signIn(email)).access_token;
    const members = `admin/projects/${portico.projects[0]?.id}/members`;
    expect((await portico.api('DELETE', `${members}/${other.membership}`, { token })).status).toBe(403);
    expect((await portico.api('GET', members, { token })).status).toBe(403);
    expect((await portico.api('DELETE', `${members}/${membership}`, { token })).status).toBe(200);
    expect((await me(token)).status).toBe(401);
  });
});
