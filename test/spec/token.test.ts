import { createHmac, createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openKeyFile } from '../../shared/carry/keys/signing-keys.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { signJwt } from '../../shared/identity/gate/access-token.ts';
import { type Answer, isDeployed, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let clientId = '';
let clientSecret = '';

beforeAll(async () => {
  portico = await startPortico();
  const [project] = portico.projects;
  clientId = project?.clientId ?? '';
  clientSecret = project?.clientSecret ?? '';
});
afterAll(() => portico.stop());

function ask(parameters: Record<string, string> | string, headers: Record<string, string> = {}) {
  const body = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
  return portico.api('POST', 'oauth2/token', {
    token: null,
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

function askForClient(more: Record<string, string> = {}, headers: Record<string, string> = {}) {
  return ask(
    { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, ...more },
    headers,
  );
}

function basic(id: string, secret: string) {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

function decode(token: string, part: 0 | 1) {
  return JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString('utf8'));
}

function expectUnauthorized(answer: Answer) {
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  expect(answer.json).toEqual({
    resourceType: 'OperationOutcome',
    id: 'unauthorized',
    issue: [{ severity: 'error', code: 'login', details: { text: 'Unauthorized' } }],
  });
}

describe('POST oauth2/token', () => {
  test('gives a client a token for an hour, with its Project and profile', async () => {
    const answer = await askForClient();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const project = portico.projects[0];
    expect(answer.json).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid',
      project: { reference: `Project/${project?.id}`, display: project?.name },
      profile: { reference: `ClientApplication/${clientId}` },
    });
    expect(answer.json.refresh_token).toBeUndefined();
  });

  test('signs with RS256 and names everything that clients read', async () => {
    const { access_token } = (await askForClient()).json;
    expect(decode(access_token, 0)).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) });
    const claims = decode(access_token, 1);
    expect(claims).toMatchObject({
      iss: portico.baseUrl,
      aud: portico.baseUrl,
      sub: clientId,
      client_id: clientId,
      username: clientId,
      login_id: expect.any(String),
      project: portico.projects[0]?.id,
      membership: expect.any(String),
      profile: `ClientApplication/${clientId}`,
      scope: 'openid',
      jti: expect.any(String),
    });
    expect(claims.exp - claims.iat).toBe(3600);
    expect(claims.nbf).toBeLessThanOrEqual(claims.iat);
  });

  test('publishes the key that signed, and only its public half', async () => {
    const { access_token } = (await askForClient()).json;
    const jwks = await portico.api('GET', '.well-known/jwks.json', { token: null });
    expect(jwks.status).toBe(200);
    const key = jwks.json.keys.find(({ kid }: { kid: string }) => kid === decode(access_token, 0).kid);
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  test.each<[string, () => Promise<Answer>]>([
    ['in the header', () => ask({ grant_type: 'client_credentials' }, basic(clientId, clientSecret))],
    ['in header and body, if equal', () => askForClient({}, basic(clientId, clientSecret))],
    [
      'in the header, form-encoded',
      () => ask({ grant_type: 'client_credentials' }, basic(clientId.replaceAll('-', '%2D'), clientSecret)),
    ],
    ['with a charset behind the media type', () => askForClient({}, formCharset)],
  ])('takes id and secret %s', async (_, send) => {
    expect((await send()).status).toBe(200);
  });

  test('gives an id token for openid, which is no access token', async () => {
    const { id_token } = (await askForClient({ scope: 'openid profile' })).json;
    expect(decode(id_token, 0).typ).toBe('JWT');
    expect(decode(id_token, 1)).toMatchObject({ iss: portico.baseUrl, aud: clientId, sub: clientId });
    expectUnauthorized(await portico.api('GET', 'auth/me', { token: id_token }));
    expect((await askForClient({ scope: 'profile' })).json.id_token).toBeUndefined();
  });

  const wrong = { client_secret: 'x'.repeat(43) };
  const nobody = { client_id: '11111111-2222-4333-8444-555555555555', ...wrong };
  test.each<[string, () => Promise<Answer>, string]>([
    ['another content type', () => json(), 'invalid_request'],
    ['no grant type', () => ask({ client_id: clientId, client_secret: clientSecret }), 'invalid_request'],
    ['an unknown grant type', () => askForClient({ grant_type: 'password' }), 'unsupported_grant_type'],
    ['a grant type of Object', () => askForClient({ grant_type: '__proto__' }), 'unsupported_grant_type'],
    [
      'a repeated parameter',
      () => ask(`grant_type=client_credentials&client_id=a&client_id=b`),
      'invalid_request',
    ],
    ['no client', () => ask({ grant_type: 'client_credentials' }), 'invalid_client'],
    ['no secret', () => askForClient({ client_secret: '' }), 'invalid_client'],
    ['a wrong secret', () => askForClient(wrong), 'invalid_client'],
    ['an unknown client', () => askForClient(nobody), 'invalid_client'],
    ['a client id of 4 kB', () => askForClient({ client_id: 'c'.repeat(4096) }), 'invalid_client'],
    ['two clients that differ', () => askForClient({}, basic(clientId, 'other')), 'invalid_request'],
    [
      'another client_id beside HTTP Basic',
      () => ask({ grant_type: 'client_credentials', client_id: 'other' }, basic(clientId, clientSecret)),
      'invalid_request',
    ],
    ['a malformed header', () => askForClient({}, { authorization: 'Basic !!' }), 'invalid_request'],
    ['an unknown scope', () => askForClient({ scope: 'openid launch/everything' }), 'invalid_scope'],
    ['70 kB', () => askForClient({ state: 'x'.repeat(70_000) }), 'invalid_request'],
    ['nothing', () => ask(''), 'invalid_request'],
  ])('refuses %s as OAuth says it', async (_, send, error) => {
    const answer = await send();
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.json).toEqual({ error, error_description: expect.any(String) });
  });

  test('says the same of a wrong secret and of an unknown client', async () => {
    const [known, unknown] = await Promise.all([askForClient(wrong), askForClient(nobody)]);
    expect(unknown.text).toBe(known.text);
    expect(unknown.status).toBe(known.status);
  });

  test('challenges a client that failed by HTTP Basic, as RFC 6749 wants it', async () => {
    const answer = await ask({ grant_type: 'client_credentials' }, basic(clientId, 'wrong'));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="portico"');
    expect(answer.json.error).toBe('invalid_client');
  });

  test('takes no secret from the query string', async () => {
    const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret });
    const answer = await portico.api('POST', `oauth2/token?${query}`, {
      token: null,
      body: 'grant_type=client_credentials',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.json.error).toBe('invalid_client');
  });

  const formCharset = { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' };
  function json() {
    return portico.api('POST', 'oauth2/token', { token: null, body: { grant_type: 'client_credentials' } });
  }
});

describe('GET auth/me', () => {
  test('says who the token speaks for', async () => {
    const answer = await portico.api('GET', 'auth/me');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      project: { resourceType: 'Project', id: portico.projects[0]?.id },
      membership: {
        resourceType: 'ProjectMembership',
        admin: true,
        profile: { reference: `ClientApplication/${clientId}` },
      },
      profile: { resourceType: 'ClientApplication', id: clientId },
      config: { resourceType: 'UserConfiguration', menu: [] },
    });
    expect(answer.text).not.toContain(clientSecret);
  });
});

describe('a request is refused with 401 and the challenge', () => {
  test.each<[string, Record<string, string>]>([
    ['without Authorization', {}],
    ['with an empty one', { authorization: '' }],
    ['with Bearer alone', { authorization: 'Bearer' }],
    ['with two tokens', { authorization: 'Bearer a b' }],
    ['with text that is no token', { authorization: 'Bearer none' }],
    ['with dots', { authorization: 'Bearer ..' }],
    ['with a scheme that we do not have', { authorization: 'Digest username="x"' }],
    ['with alg none', { authorization: `Bearer ${unsigned({ alg: 'none', typ: 'at+jwt' })}` }],
    ['with a token of 9 kB', { authorization: `Bearer ${'a'.repeat(9000)}` }],
  ])('%s', async (_, headers) => {
    expectUnauthorized(await portico.api('GET', 'auth/me', { token: null, headers }));
  });

  test('with a client id and secret where a token belongs', async () => {
    const headers = basic(clientId, clientSecret);
    expectUnauthorized(await portico.api('GET', 'auth/me', { token: null, headers }));
  });

  test('with the token in the query string', async () => {
    const path = `auth/me?access_token=${await portico.token()}`;
    expectUnauthorized(await portico.api('GET', path, { token: null }));
  });

  test('before its body is read', async () => {
    const path = `admin/projects/${portico.projects[0]?.id}/invite`;
    const call = { token: null, body: '{', headers: { 'content-type': 'application/json' } };
    expectUnauthorized(await portico.api('POST', path, call));
  });

  test('whatever is changed in a good token', async () => {
    const token = await portico.token();
    const [header = '', claims = '', signature = ''] = token.split('.');
    const other = Buffer.from(JSON.stringify({ ...decode(token, 1), admin: true })).toString('base64url');
    for (const forged of [
      `${header}.${other}.${signature}`,
      `${header}.${claims}.`,
      `${header}.${claims}`,
      `${unsigned({ alg: 'none', typ: 'at+jwt' }).split('.')[0]}.${claims}.`,
      `${header}.${claims}.${signature.slice(0, -2)}AA`,
    ]) {
      expectUnauthorized(await portico.api('GET', 'auth/me', { token: forged }));
    }
  });
});

if (!isDeployed) {
  describe('a token that the stage itself signed is refused', () => {
    test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['when it has expired', { exp: 1 }, {}],
      ['without exp', { exp: undefined }, {}],
      ['with exp as text', { exp: '9999999999' }, {}],
      ['before it is valid', { nbf: 9_999_999_999 }, {}],
      ['for another issuer', { iss: 'https://issuer.example' }, {}],
      ['for another audience', { aud: 'https://api.example' }, {}],
      ['as an id token', {}, { typ: 'JWT' }],
      ['with a path as kid', {}, { kid: '../../keys.json' }],
      ['with an unknown kid and a jku', {}, { kid: 'mine', jku: 'http://127.0.0.1:9/jwks.json' }],
      ['with an unknown crit', {}, { crit: ['mine'], mine: 1 }],
      ['for a login that is not there', { login_id: '11111111-2222-4333-8444-555555555555' }, {}],
      ['for another membership than its login chose', { membership: 'other' }, {}],
      ['for another Project than its membership', { project: 'other' }, {}],
      ['for a login that is no id', { login_id: '../x' }, {}],
    ])('%s', async (_, claims, header) => {
      expectUnauthorized(await portico.api('GET', 'auth/me', { token: await resign(claims, header) }));
    });

    test('is accepted when nothing is changed', async () => {
      expect((await portico.api('GET', 'auth/me', { token: await resign({}, {}) })).status).toBe(200);
    });

    test('with HS256 and the public key as secret', async () => {
      const [key] = (await portico.api('GET', '.well-known/jwks.json', { token: null })).json.keys;
      const pem = createPublicKey({ key, format: 'jwk' }).export({ format: 'pem', type: 'spki' });
      const claims = (await portico.token()).split('.')[1];
      const text = `${unsigned({ alg: 'HS256', typ: 'at+jwt', kid: key.kid }).split('.')[0]}.${claims}`;
      const token = `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
      expectUnauthorized(await portico.api('GET', 'auth/me', { token }));
    });
  });

  describe('after it was issued', () => {
    test('a revoked login ends its tokens at the next request', async () => {
      const { access_token: token } = (await askForClient()).json;
      expect((await portico.api('GET', 'auth/me', { token })).status).toBe(200);
      await portico.local.store.update({
        Key: keys.login(decode(token, 1).login_id),
        UpdateExpression: 'SET revoked = :yes',
        ExpressionAttributeValues: { ':yes': true },
      });
      expectUnauthorized(await portico.api('GET', 'auth/me', { token }));
    });

    test.each([
      ['deactivated', 'deactivated'],
      ['removed', 'removed'],
    ] as const)('a %s membership ends its tokens, and no new one is given', async (_, how) => {
      const project = portico.projects[0]?.id ?? '';
      const created = await portico.api('POST', `admin/projects/${project}/client`, {
        body: { name: 'To end' },
      });
      const credentials = { client_id: created.json.id, client_secret: created.json.secret };
      const { access_token: token } = (await askForClient(credentials)).json;
      const key = keys.resource(project, 'ProjectMembership', decode(token, 1).membership);
      const head = (await portico.local.store.read([key])).get(key);
      const content = JSON.stringify({ ...JSON.parse(String(head?.content)), active: false });
      await portico.local.store.update({
        Key: key,
        UpdateExpression: how === 'removed' ? 'SET deleted = :new REMOVE content' : 'SET content = :new',
        ExpressionAttributeValues: { ':new': how === 'removed' ? true : content },
      });
      expectUnauthorized(await portico.api('GET', 'auth/me', { token }));
      expect((await askForClient(credentials)).json.error).toBe('invalid_client');
    });
  });
}

function unsigned(header: object): string {
  const parts = [header, { sub: 'x' }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${parts.join('.')}.`;
}

/** The first Project's token, changed, with a good signature. */
async function resign(claims: object, header: Record<string, unknown>): Promise<string> {
  const { signer } = openKeyFile(join(portico.local.dataDir, 'keys.json'));
  const { typ = 'at+jwt', ...rest } = header;
  const payload = { ...decode(await portico.token(), 1), ...claims };
  if (Object.keys(rest).length === 0) return signJwt(signer, String(typ), payload);
  const text = [{ alg: 'RS256', typ, kid: signer.kid, ...rest }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${Buffer.from(await signer.sign(text)).toString('base64url')}`;
}
