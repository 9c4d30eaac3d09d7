import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const documents = [
  '.well-known/openid-configuration',
  '.well-known/oauth-authorization-server',
  '.well-known/smart-configuration',
  'fhir/R4/.well-known/smart-configuration',
];
const read = (path: string) => portico.api('GET', path, { token: null });

describe('the discovery documents', () => {
  test.each(documents)('%s names endpoints that are there, of this origin', async (path) => {
    const { status, json } = await read(path);
    expect([status, json.issuer]).toEqual([200, portico.baseUrl]);
    const endpoints = Object.entries<string>(json).filter(([name]) => /_(endpoint|uri)$/.test(name));
    expect(endpoints.length).toBeGreaterThan(3);
    for (const [name, url] of endpoints) {
      expect(url.startsWith(`${portico.baseUrl}/`)).toBe(true);
      const isGet = /authorization|jwks|userinfo|end_session/.test(name);
      expect([200, 302, 400, 401]).toContain(
        (await portico.api(isGet ? 'GET' : 'POST', url, { token: null })).status,
      );
    }
  });

  test.each(documents)('%s claims no grant that is unsupported', async (path) => {
    const { grant_types_supported: grants } = (await read(path)).json;
    expect(grants).toEqual(
      expect.arrayContaining(['authorization_code', 'client_credentials', 'refresh_token']),
    );
    for (const grant_type of grants) {
      expect((await at.ask({ grant_type })).json.error).not.toBe('unsupported_grant_type');
    }
  });

  test('claim every scope that is known, and no other', async () => {
    const { scopes_supported: scopes } = (await read('.well-known/openid-configuration')).json;
    expect(scopes).toEqual(
      expect.arrayContaining(['openid', 'profile', 'email', 'fhirUser', 'offline_access']),
    );
    const [project] = portico.projects;
    const answer = await at.ask({
      grant_type: 'client_credentials',
      client_id: project?.clientId ?? '',
      client_secret: project?.clientSecret ?? '',
      // Those of people and of programs are known, and each refused to the other.
      scope: scopes.filter((scope: string) => !/^(user|patient)\//.test(scope)).join(' '),
    });
    expect(answer.status).toBe(200);
  });

  test('for SMART name S256 alone, and the offline capability', async () => {
    const [root, fhir] = await Promise.all([read(documents[2] ?? ''), read(documents[3] ?? '')]);
    expect(root.json).toEqual(fhir.json);
    expect(root.json.code_challenge_methods_supported).toEqual(['S256']);
    expect(root.json.capabilities).toContain('permission-offline');
  });

  test('are enough to check an id token', async () => {
    const { issuer, jwks_uri } = (await read('.well-known/openid-configuration')).json;
    const member = await at.newMember();
    const { id_token } = await at.signIn(member.email, { nonce: 'n-1' });
    const { payload } = await jwtVerify(id_token, createLocalJWKSet((await read(jwks_uri)).json), { issuer });
    expect(payload).toMatchObject({ sub: member.user, nonce: 'n-1' });
  });
});

describe('oauth2/userinfo', () => {
  test.each(['GET', 'POST'])('%s tells as much as the scopes allow', async (method) => {
    const { email, user } = await at.newMember();
    const infoOf = async (scope: string) => {
      const { access_token: token } = await at.signIn(email, { scope });
      return portico.api(method, 'oauth2/userinfo', { token });
    };
    const fhirUser = expect.stringMatching(/\/fhir\/R4\/Practitioner\/[\w-]+$/);
    expect((await infoOf('openid')).json).toEqual({ sub: user, fhirUser });
    expect((await infoOf('openid profile email')).json).toEqual({
      sub: user,
      fhirUser,
      name: 'Ann Lee',
      email,
    });
    expect((await infoOf('profile')).status).toBe(403);
  });

  test('tells of a program who it is', async () => {
    const answer = await portico.api('GET', 'oauth2/userinfo');
    expect(answer.json).toMatchObject({ sub: portico.projects[0]?.clientId });
  });

  test('is nothing without a token', async () => {
    expect((await read('oauth2/userinfo')).status).toBe(401);
  });
});

describe('oauth2/introspect', () => {
  function introspect(token: string, projectIndex = 0, change: Record<string, string> = {}): Promise<Answer> {
    const project = portico.projects[projectIndex];
    const credentials = { client_id: project?.clientId ?? '', client_secret: project?.clientSecret ?? '' };
    return portico.api('POST', 'oauth2/introspect', {
      token: null,
      body: `${new URLSearchParams({ token, ...credentials, ...change })}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  }

  test('says of a token of the own Project what it is good for', async () => {
    const { email, user } = await at.newMember();
    const { access_token } = await at.signIn(email, { scope: 'openid profile' });
    const { status, json } = await introspect(access_token);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      active: true,
      token_type: 'Bearer',
      scope: 'openid profile',
      client_id: '',
      sub: user,
      iss: portico.baseUrl,
    });
    expect(json.exp - json.iat).toBe(3600);
  });

  test('says no more than that every other token is not active', async () => {
    const member = await at.newMember();
    const { access_token, refresh_token, id_token } = await at.signIn(member.email, { remember: true });
    const own = await portico.token();
    const [header, claims, signature] = own.split('.');
    for (const token of [refresh_token, id_token, '', 'x', '..', `${header}.${claims}.${signature}A`]) {
      expect((await introspect(token)).json).toEqual({ active: false });
    }
    expect((await introspect(access_token, 1)).json).toEqual({ active: false });
    expect((await introspect(access_token)).json.active).toBe(true);
    await at.post('oauth2/logout', undefined, access_token);
    expect((await introspect(access_token)).json).toEqual({ active: false });
  });

  test('is for clients only', async () => {
    const token = await portico.token();
    const answer = await introspect(token, 0, { client_secret: 'x'.repeat(43) });
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_client']);
    const bearer = await portico.api('POST', 'oauth2/introspect', {
      body: `${new URLSearchParams({ token })}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(bearer.json.error).toBe('invalid_request');
  });
});
