import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signToken } from '../issuer/own-issuer.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createClient, createPolicy, projectOf } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
let app: string;
/** Of whom nothing changes but their logins. */
let email: string;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  ({ email } = await at.newMember());
  app = await at.newApp();
});
afterAll(() => portico.stop());

const offline = { scope: 'openid offline_access' };

function revoke(body: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
  return portico.api('POST', 'oauth2/revoke', {
    token: null,
    body: `${new URLSearchParams(body)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

async function signedIn(
  clientId = app,
  secret: Record<string, string> = {},
  person = email,
): Promise<Answer['json']> {
  const { code } = (await at.login(person, { clientId, ...offline })).json;
  return (await at.exchange(code, { client_id: clientId, ...secret })).json;
}

async function isAlive({ access_token, refresh_token }: Answer['json'], more = {}): Promise<boolean> {
  const isIn = (await at.me(access_token)).status === 200;
  if (isIn) return true;
  expect((await at.refresh(refresh_token, more)).json.error).toBe('invalid_grant');
  return false;
}

function expectError({ status, json }: Answer, error: string, expected = 400) {
  expect([status, json.error]).toEqual([expected, error]);
}

test('a login ends with the activity of its membership, and does not come back with it', async () => {
  const { membership, email } = await at.newMember();
  const signIn = async () => {
    const { code } = (await at.login(email, { clientId: app, ...offline })).json;
    return (await at.exchange(code, { client_id: app })).json;
  };
  const before = await signIn();
  const path = `admin/projects/${projectOf(portico, 0).id}/members/${membership}`;
  for (const active of [false, true]) {
    expect((await portico.api('POST', path, { body: { active } })).status).toBe(200);
    expect([active, await isAlive(before)]).toEqual([active, false]);
  }
  const anew = await signIn();
  const accessPolicy = await createPolicy(portico, [{ resourceType: 'Patient' }]);
  for (const body of [{ accessPolicy }, { accessPolicy: null }, { active: true }]) {
    expect((await portico.api('POST', path, { body })).status).toBe(200);
    expect([body, await isAlive(anew)]).toEqual([body, true]);
  }
});

describe('oauth2/revoke (RFC 7009)', () => {
  test.each(['access_token', 'refresh_token'])(
    'with the %s ends the login and all its tokens',
    async (name) => {
      const tokens = await signedIn();
      const answer = await revoke({ token: tokens[name], client_id: app, token_type_hint: name });
      expect(answer.status).toBe(200);
      expect(await isAlive(tokens)).toBe(false);
      // Again, and by the other token of it: as good as revoked.
      expect((await revoke({ token: tokens.access_token, client_id: app })).status).toBe(200);
      expect((await revoke({ token: tokens.refresh_token, client_id: app })).status).toBe(200);
    },
  );

  test('takes a wrong hint, and a public client that does not name itself', async () => {
    const tokens = await signedIn();
    const answer = await revoke({ token: tokens.refresh_token, token_type_hint: 'access_token' });
    expect(answer.status).toBe(200);
    expect(await isAlive(tokens)).toBe(false);
  });

  test('with a refresh token that was rotated ends the family too', async () => {
    const first = await signedIn();
    const second = (await at.refresh(first.refresh_token)).json;
    expect((await revoke({ token: first.refresh_token, client_id: app })).status).toBe(200);
    expect(await isAlive(second)).toBe(false);
  });

  test('leaves the other logins of the person', async () => {
    const [one, other] = [await at.signIn(email), await at.signIn(email)];
    expect((await revoke({ token: one.access_token })).status).toBe(200);
    expect([(await at.me(one.access_token)).status, (await at.me(other.access_token)).status]).toEqual([
      401, 200,
    ]);
  });

  test.each<[string, () => string]>([
    ['unknown', () => randomUUID()],
    ['of the form of a refresh token', () => ['a', 'b', 'c', 'd'.repeat(43), 'e'.repeat(43)].join('.')],
    ['of the form of a JWT', () => 'a.b.c'],
    ['of a run', () => 'run.x.y'],
    ['endless', () => 'x'.repeat(20_000)],
  ])('answers 200 for a token that is %s', async (_, token) => {
    expect((await revoke({ token: token(), client_id: app })).status).toBe(200);
  });

  test('ends nothing by a refresh token that is made up around a login', async () => {
    const tokens = await signedIn();
    const parts = tokens.refresh_token.split('.');
    const forged = parts.with(3, 'x'.repeat(43)).join('.');
    expect((await revoke({ token: forged, client_id: app })).status).toBe(200);
    expect(await isAlive(tokens)).toBe(true);
    const idToken = await revoke({ token: tokens.id_token, client_id: app });
    expect([idToken.status, await isAlive(tokens)]).toEqual([200, true]);
  });

  test('wants a token, once, in a form', async () => {
    expectError(await revoke({ client_id: app }), 'invalid_request');
    expectError(await revoke({ client_id: app, token: '' }), 'invalid_request');
    const body = `token=a&token=b`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expectError(
      await portico.api('POST', 'oauth2/revoke', { token: null, body, headers }),
      'invalid_request',
    );
    expectError(await portico.api('POST', 'oauth2/revoke', { token: null, body: {} }), 'invalid_request');
    expect((await portico.api('GET', 'oauth2/revoke', { token: null })).status).toBe(405);
  });

  test('is refused for the token of another client, which stays good', async () => {
    const { id: client_id, secret: client_secret } = await createClient(portico);
    const others = [{ client_id: await at.newApp() }, { client_id, client_secret }];
    // The last is of the own app, which has no client.
    for (const tokens of [await signedIn(), await at.signIn(email, { remember: true })]) {
      for (const name of ['access_token', 'refresh_token']) {
        for (const other of others) {
          expectError(await revoke({ token: tokens[name], ...other }), 'invalid_grant');
        }
      }
      expect(await isAlive(tokens)).toBe(true);
    }
  });

  test('wants the secret of a client that has one, whether the token is known or not', async () => {
    const { id, secret } = await createClient(portico);
    const credentials = { client_id: id, client_secret: secret };
    const tokens = await signedIn(id, { client_secret: secret });
    for (const token of [tokens.access_token, tokens.refresh_token, 'unknown']) {
      expectError(await revoke({ token, client_id: id }), 'invalid_client');
      expectError(await revoke({ token, ...credentials, client_secret: 'wrong' }), 'invalid_client');
    }
    expectError(await revoke({ token: tokens.access_token }), 'invalid_client');
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    expectError(await revoke({ token: 'x' }, basic(`${id}:wrong`)), 'invalid_client', 401);
    expect((await at.me(tokens.access_token)).status).toBe(200);
    expect((await revoke({ token: tokens.access_token }, basic(`${id}:${secret}`))).status).toBe(200);
    expect(await isAlive(tokens, credentials)).toBe(false);
  });

  test('takes an assertion of a client that signs', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] };
    const path = `admin/projects/${projectOf(portico, 0).id}/client`;
    const { id } = (await portico.api('POST', path, { body: { name: 'Signs', jwks } })).json;
    const assertion = () => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: signToken(
        privateKey,
        { alg: 'RS256', kid: 'k' },
        {
          ...{ iss: id, sub: id, aud: portico.baseUrl, jti: randomUUID() },
          exp: Math.floor(Date.now() / 1000) + 200,
        },
      ),
    });
    const { access_token } = (await at.ask({ grant_type: 'client_credentials', ...assertion() })).json;
    const asked = { token: access_token, ...assertion() };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `${new URLSearchParams(asked)}`;
    const told = await portico.api('POST', 'oauth2/introspect', { token: null, body, headers });
    expect(told.json).toMatchObject({ active: true, client_id: id });
    expectError(await revoke(asked), 'invalid_client');
    expect((await revoke({ token: access_token, ...assertion() })).status).toBe(200);
    expect((await at.me(access_token)).status).toBe(401);
  });

  test('leaves an entry in the audit log, of the person who was signed in', async () => {
    const tokens = await signedIn(app, {}, (await at.newMember()).email);
    for (let i = 0; i < 3; i++) await revoke({ token: tokens.refresh_token, client_id: app });
    const query = `fhir/R4/AuditEvent?subtype=sign-out&agent=${tokens.profile.reference}`;
    const entries = async () => (await portico.api('GET', query)).json.entry ?? [];
    while ((await entries()).length === 0) await pause(20);
    await pause(200);
    expect(await entries()).toHaveLength(1);
  });
});

describe('oauth2/end-session (RP-Initiated Logout)', () => {
  const back = 'https://app.example.org/bye?from=portico';
  let registered: string;
  beforeAll(async () => {
    registered = await at.newApp({ postLogoutRedirectUris: [back] });
    const path = `fhir/R4/ClientApplication/${registered}`;
    const { json } = await portico.api('GET', path);
    const body = { ...json, postLogoutRedirectUris: [back, 'javascript:alert(2)'] };
    expect((await portico.api('PUT', path, { body })).status).toBe(400);
  });

  const end = (parameters: Record<string, string>, method = 'GET') => {
    const query = `${new URLSearchParams(parameters)}`;
    return method === 'GET'
      ? portico.api('GET', `oauth2/end-session?${query}`, { token: null })
      : portico.api('POST', 'oauth2/end-session', {
          token: null,
          body: query,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
  };
  const location = ({ status, headers }: Answer) => [status, headers.get('location')];
  const signedOut = () => `${portico.baseUrl}/app/signed-out`;

  test.each(['GET', 'POST'])(
    'by %s ends the login of the ID token and sends the person back',
    async (method) => {
      const tokens = await signedIn(registered);
      const asked = { id_token_hint: tokens.id_token, post_logout_redirect_uri: back, state: 'a b&c' };
      expect(location(await end(asked, method))).toEqual([302, `${back}&state=a+b%26c`]);
      expect(await isAlive(tokens)).toBe(false);
      // Pressed twice it leads to the same place.
      expect((await end(asked, method)).status).toBe(302);
    },
  );

  test('without a page of the client shows one of ours', async () => {
    const tokens = await signedIn(registered);
    expect(location(await end({ id_token_hint: tokens.id_token }))).toEqual([302, signedOut()]);
    expect(await isAlive(tokens)).toBe(false);
    expect(location(await end({}))).toEqual([302, signedOut()]);
    expect((await portico.api('GET', 'app/signed-out', { token: null })).status).toBe(200);
  });

  test('without a hint ends nothing, and leads to registered pages only', async () => {
    const asked = { client_id: registered, post_logout_redirect_uri: back };
    expect(location(await end(asked))).toEqual([302, back]);
  });

  test.each<[string, (tokens: Answer['json']) => Record<string, string>]>([
    ['a page that is not registered', () => ({ post_logout_redirect_uri: 'https://evil.example/' })],
    ['one that begins like it', () => ({ post_logout_redirect_uri: `${back}&x=y` })],
    ['a script', () => ({ post_logout_redirect_uri: 'javascript:alert(1)' })],
    ['another client', () => ({ client_id: app })],
    ['a hint that is no token', () => ({ id_token_hint: 'x' })],
    ['an access token as hint', ({ access_token }) => ({ id_token_hint: access_token })],
    [
      'a hint of another signature',
      ({ id_token }) => ({ id_token_hint: `${id_token.slice(0, -8)}AAAAAAAA` }),
    ],
    ['a page that a PUT was refused for', () => ({ post_logout_redirect_uri: 'javascript:alert(2)' })],
    ['an endless state', () => ({ state: 'x'.repeat(3000) })],
  ])('is refused for %s, and ends nothing', async (_, change) => {
    const tokens = await signedIn(registered);
    const answer = await end({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: back,
      ...change(tokens),
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect((await at.me(tokens.access_token)).status).toBe(200);
  });

  test('a client without registered pages has none, not even those that take codes', async () => {
    const redirectUri = 'https://app.example.org/callback';
    const id = await at.newApp({ redirectUris: [redirectUri] });
    const asked = { client_id: id, post_logout_redirect_uri: redirectUri };
    expect((await end(asked)).status).toBe(400);
    expect((await end({ post_logout_redirect_uri: redirectUri })).status).toBe(400);
  });

  test('an access token is no hint, whatever else is asked', async () => {
    const tokens = await signedIn(registered);
    expect((await end({ id_token_hint: tokens.access_token })).status).toBe(400);
    expect((await at.me(tokens.access_token)).status).toBe(200);
  });

  test('a parameter that comes twice is refused', async () => {
    const query = 'state=a&state=b';
    const answer = await portico.api('GET', `oauth2/end-session?${query}`, { token: null });
    expect(answer.status).toBe(400);
  });

  test('an ID token of the own app ends its login', async () => {
    const tokens = await at.signIn(email, { remember: true });
    expect(location(await end({ id_token_hint: tokens.id_token }))).toEqual([302, signedOut()]);
    expect(await isAlive(tokens)).toBe(false);
  });

  test.each<[string, unknown]>([
    ['no list', 'https://app.example.org/'],
    ['not a URI', ['not a uri']],
    ['plain http', ['http://app.example.org/']],
    ['more than twenty', Array.from({ length: 21 }, (_, i) => `https://app.example.org/${i}`)],
  ])('a client with %s to be sent to is not created', async (_, postLogoutRedirectUris) => {
    const path = `admin/projects/${projectOf(portico, 0).id}/client`;
    const { status, json } = await portico.api('POST', path, {
      body: { name: 'App', postLogoutRedirectUris },
    });
    expect([status, json.issue[0].expression]).toEqual([400, ['postLogoutRedirectUris']]);
  });
});

describe('what sign-in forms ask first', () => {
  test('auth/method is the same for a known and an unknown address', async () => {
    const method = (body: unknown) => at.post('auth/method', body);
    const [known, unknown] = [await method({ email }), await method({ email: 'nobody@example.org' })];
    expect([known.status, known.json]).toEqual([200, {}]);
    expect(unknown.text).toBe(known.text);
    for (const body of [{}, { email: 'no address' }, { email: 7 }]) {
      const { status, json } = await method(body);
      expect([status, json.issue[0].expression]).toEqual([400, ['email']]);
    }
    for (const body of [[], null]) {
      const { status, json } = await method(body);
      expect([status, json.issue[0].details.text]).toEqual([400, 'The body must be a JSON object']);
    }
  });

  test('auth/clientinfo says how an app greets', async () => {
    const info = (id: string) => portico.api('GET', `auth/clientinfo/${id}`, { token: null });
    expect((await info(app)).json).toEqual({});
    expect((await info('medplum-cli')).status).toBe(200);
    for (const id of [randomUUID(), 'none', '__proto__', 'x'.repeat(3000)]) {
      expect((await info(id)).status).toBe(404);
    }
    const path = `fhir/R4/ClientApplication/${app}`;
    const { json } = await portico.api('GET', path);
    const show = async (signInForm: object) => {
      expect((await portico.api('PUT', path, { body: { ...json, signInForm } })).status).toBe(200);
      return (await info(app)).json;
    };
    const logo = { contentType: 'image/png', url: 'https://app.example.org/logo.png' };
    expect(await show({ welcomeString: 'Welcome to the portal', logo })).toEqual({
      welcomeString: 'Welcome to the portal',
      logo,
    });
    const hidden = { contentType: 'image/png', url: 'Binary/1' };
    expect(await show({ welcomeString: 'Hello', logo: hidden })).toEqual({ welcomeString: 'Hello' });
  });
});
