import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MedplumClient, OperationOutcomeError } from '@medplum/core';
import { type TOTP, URI } from 'otpauth';
import { mailedLink } from './mailed-link.ts';
import { type Portico, startPortico } from './portico.ts';
import { newAddress, password, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

/** The unmodified client, and the bodies that it sent. */
function newClient(): { client: MedplumClient; sent: string[] } {
  const sent: string[] = [];
  const client = new MedplumClient({
    baseUrl: `${portico.baseUrl}/`,
    fetch: (url: string, options: RequestInit) => {
      if (typeof options.body === 'string') sent.push(options.body);
      return fetch(url, options);
    },
  });
  return { client, sent };
}

async function signedIn(email: string, change: object = {}): Promise<MedplumClient> {
  const { client } = newClient();
  const { code = '' } = await client.startLogin({ email, password, ...change });
  await client.processCode(code);
  return client;
}

async function asProgram(): Promise<MedplumClient> {
  const { client } = newClient();
  const [project] = portico.projects;
  await client.startClientLogin(project?.clientId ?? '', project?.clientSecret ?? '');
  return client;
}

const project = () => portico.projects[0]?.id ?? '';
const person = (change: object = {}) => ({
  resourceType: 'Practitioner' as const,
  firstName: 'Ann',
  lastName: 'Lee',
  email: newAddress(),
  sendEmail: false,
  ...change,
});

const idsOf = (client: MedplumClient) => {
  const claims = JSON.parse(
    Buffer.from(client.getAccessToken()?.split('.')[1] ?? '', 'base64url').toString(),
  );
  return { membership: claims.membership, lifetime: claims.exp - claims.iat };
};

/** The status that an outcome stands for, and its first issue. */
async function refusalOf(
  run: Promise<unknown>,
): Promise<{ id: unknown; text: unknown; expression: unknown }> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OperationOutcomeError)) throw new Error('Not refused with an outcome');
  const { id, issue } = error.outcome;
  return { id, text: issue[0]?.details?.text, expression: issue[0]?.expression };
}

describe('the unmodified MedplumClient', () => {
  test('signs a program in, and knows its profile', async () => {
    const client = await asProgram();
    expect(client.getProfile()).toMatchObject({
      resourceType: 'ClientApplication',
      id: portico.projects[0]?.clientId,
    });
    expect(client.isProjectAdmin()).toBe(true);
    expect(idsOf(client).lifetime).toBeGreaterThanOrEqual(600);
  });

  test('signs a person in with a hashed challenge, and out', async () => {
    const { email, membership } = await at.newMember();
    const { client, sent } = newClient();
    // What the client encodes the hash of its verifier with, where browsers have it.
    Object.assign(globalThis, { window: { btoa } });
    const { code = '' } = await client
      .startLogin({ email, password })
      .finally(() => Reflect.deleteProperty(globalThis, 'window'));
    expect(JSON.parse(sent[0] ?? '')).toMatchObject({ codeChallengeMethod: 'S256' });
    const profile = await client.processCode(code);
    expect([profile.resourceType, client.getProfile()?.id]).toEqual(['Practitioner', profile.id]);
    expect(idsOf(client).membership).toBe(membership);
    expect(idsOf(client).lifetime).toBeGreaterThanOrEqual(600);
    const token = client.getAccessToken() ?? '';
    await client.signOut();
    expect(client.getProfile()).toBeUndefined();
    expect((await at.me(token)).status).toBe(401);
  });

  test('stays signed in with refresh tokens', async () => {
    const { email, membership } = await at.newMember();
    const client = await signedIn(email, { remember: true });
    const before = client.getAccessToken();
    for (let i = 0; i < 3; i++) await client.refreshIfExpired(2 * 3_600_000);
    expect(client.getAccessToken()).not.toBe(before);
    expect(idsOf(client).membership).toBe(membership);
    expect((await client.get('auth/me')).profile.id).toBe(client.getProfile()?.id);
  });

  test('is signed out, not caught in a loop, once the login has ended', async () => {
    const { email } = await at.newMember();
    const client = await signedIn(email, { remember: true });
    await at.post('oauth2/logout', undefined, client.getAccessToken() ?? '');
    await expect(client.get('auth/me', { cache: 'reload' })).rejects.toThrow();
    expect(client.getAccessToken()).toBeUndefined();
  });

  test('chooses between two memberships, and switches', async () => {
    const { email, membership } = await at.newMember();
    const invited = await at.invite(email, 1);
    const link = await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}`));
    await at.post('auth/setpassword', { ...link, password });
    const { client } = newClient();
    for (const id of [membership, invited.id]) {
      const { login, memberships } = await client.startLogin({ email, password });
      expect(memberships).toHaveLength(2);
      const { code } = await client.post('auth/profile', { login, profile: id });
      await client.processCode(code);
      expect(idsOf(client).membership).toBe(id);
    }
    const [one, other] = client.getLogins();
    if (!one || !other) throw new Error('The client keeps both logins');
    for (const login of [one, other, one]) {
      await client.setActiveLogin(login);
      expect(`Practitioner/${client.getProfile()?.id}`).toBe(login.profile.reference);
      const read = await client.readReference(login.profile);
      expect(read.id).toBe(client.getProfile()?.id);
    }
  });

  test('enrols a second factor, and shows it at the next sign-in', async () => {
    const { email } = await at.newMember();
    const client = await signedIn(email);
    const { enrollUri } = await client.get('auth/mfa/status');
    const totp = URI.parse(enrollUri) as TOTP;
    await client.post('auth/mfa/enroll', { token: totp.generate() });
    const { client: next } = newClient();
    const { login, mfaRequired } = await next.startLogin({ email, password });
    expect(mfaRequired).toBe(true);
    const token = totp.generate({ timestamp: Date.now() + 30_000 });
    const { code } = await next.post('auth/mfa/verify', { login, token });
    expect((await next.processCode(code)).resourceType).toBe('Practitioner');
  });

  test('is refused a wrong password with an outcome', async () => {
    const { client } = newClient();
    const refusal = await refusalOf(client.startLogin({ email: newAddress(), password: 'wrong password' }));
    expect(refusal.text).toBe('Email or password is invalid');
  });
});

describe('its invite', () => {
  test('answers the membership', async () => {
    const client = await asProgram();
    const made = await client.invite(project(), person());
    expect(made).toMatchObject({ resourceType: 'ProjectMembership', profile: { display: 'Ann Lee' } });
  });

  test('is refused by field, by role and by what is there', async () => {
    const client = await asProgram();
    const wrong = await refusalOf(client.invite(project(), person({ email: 'bob' })));
    expect(wrong).toMatchObject({ text: 'Valid email address is required', expression: ['email'] });

    const { email } = await at.newMember();
    const member = await signedIn(email);
    expect((await refusalOf(member.invite(project(), person()))).id).toBe('forbidden');
    expect((await refusalOf(client.invite(portico.projects[1]?.id ?? '', person()))).id).toBe('forbidden');

    const taken = await refusalOf(client.invite(project(), person({ email })));
    expect(taken).toMatchObject({ id: 'conflict', text: 'User is already a member of this project' });
  });
});
