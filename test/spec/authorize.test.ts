import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isDeployed, type Portico, startPortico } from './portico.ts';
import { newAddress, pkce, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
let clientId = '';
const redirectUri = 'https://app.example.org/callback?tenant=1';
const second = 'http://localhost:5173/';

beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  const path = `admin/projects/${portico.projects[0]?.id}/client`;
  const body = { name: 'Portal', public: true, redirectUris: [redirectUri, second] };
  const created = await portico.api('POST', path, { body });
  expect(created.json.redirectUris).toEqual([redirectUri, second]);
  clientId = created.json.id;
});
afterAll(() => portico.stop());

type Parameters = Record<string, string | undefined>;

/** A good request, changed; what is undefined is left out. */
function parametersOf(change: Parameters = {}): Record<string, string> {
  const all = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid fhirUser',
    state: 'a state/with+signs&=',
    code_challenge: pkce.codeChallenge,
    code_challenge_method: 'S256',
    ...change,
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]));
}

function authorize(change: Parameters = {}, more = '') {
  const query = new URLSearchParams(parametersOf(change));
  return portico.api('GET', `oauth2/authorize?${query}${more}`, { token: null });
}

const cli = {
  client_id: 'medplum-cli',
  redirect_uri: 'http://localhost:9615',
  code_challenge: undefined,
  code_challenge_method: undefined,
};

describe('GET oauth2/authorize', () => {
  test.each<[string, Parameters]>([
    ['with PKCE', {}],
    ['to the second redirect URI', { redirect_uri: second }],
    ['without a state, with a nonce and a prompt', { state: undefined, nonce: 'n-1', prompt: 'login' }],
    ['with a plain challenge', { code_challenge: 'v'.repeat(43), code_challenge_method: 'plain' }],
    ['for the command line, without PKCE', cli],
    ['with the aud that SMART apps send', { aud: 'AUD' }],
  ])('leads to the sign-in page %s', async (_, change) => {
    const { aud, ...rest } = change;
    const full = { ...rest, ...(aud ? { aud: `${portico.baseUrl}/fhir/R4` } : {}) };
    const answer = await authorize(full);
    expect([answer.status, answer.text]).toEqual([302, '']);
    const [page, query] = String(answer.headers.get('location')).split('?');
    expect(page).toBe(`${portico.baseUrl}/app/sign-in`);
    expect(Object.fromEntries(new URLSearchParams(query))).toEqual(parametersOf(rest));
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each<[string, Parameters]>([
    ['an unknown client', { client_id: randomUUID() }],
    ['no client', { client_id: undefined }],
    ['a client that is a path', { client_id: '../x' }],
    ['a client called __proto__', { client_id: '__proto__' }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['another redirect URI', { redirect_uri: 'https://evil.example/callback' }],
    ['the right one and a path', { redirect_uri: `${second}more` }],
    ['the right one without its query', { redirect_uri: 'https://app.example.org/callback' }],
    ['the right one in capitals', { redirect_uri: 'HTTPS://app.example.org/callback?tenant=1' }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['the page of the own origin', { redirect_uri: '/app' }],
    ['another port for the command line', { ...cli, redirect_uri: 'http://localhost:9616' }],
    ['the numeric address for the command line', { ...cli, redirect_uri: 'http://127.0.0.1:9615' }],
    ['a path for the command line', { ...cli, redirect_uri: 'http://localhost:9615/' }],
    ["the command line's for another client", { redirect_uri: cli.redirect_uri }],
  ])('shows the error here and sends nobody anywhere: %s', async (_, change) => {
    const answer = await authorize(change);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(answer.json.resourceType).toBe('OperationOutcome');
  });

  test.each(['client_id', 'redirect_uri'])('shows the error here when %s comes twice', async (name) => {
    const answer = await authorize({}, `&${name}=https%3A%2F%2Fevil.example`);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  test.each<[string, Parameters, string]>([
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['a token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown scope', { scope: 'openid launch/everything' }, 'invalid_scope'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['another method', { code_challenge_method: 'S512' }, 'invalid_request'],
    ['a silent answer', { prompt: 'none' }, 'login_required'],
    ['a posted answer', { response_mode: 'form_post' }, 'invalid_request'],
    ['another server', { aud: 'https://fhir.example.org/R4' }, 'invalid_request'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a request by reference', { request_uri: 'https://x.example' }, 'request_uri_not_supported'],
    ['a nonce of 2 kB', { nonce: 'n'.repeat(2000) }, 'invalid_request'],
  ])('tells the client when it asks for %s', async (_, change, error) => {
    const answer = await authorize(change);
    expect(answer.status).toBe(302);
    const location = String(answer.headers.get('location'));
    expect(location.startsWith(`${redirectUri}&error=`)).toBe(true);
    const query = new URL(location).searchParams;
    expect([query.get('error'), query.get('state')]).toEqual([error, parametersOf().state]);
  });

  test('leaves out a state that was not given, or given twice', async () => {
    for (const [change, more] of [
      [{ state: undefined, prompt: 'none' }, ''],
      [{}, '&state=x'],
    ] as const) {
      const { searchParams } = new URL(String((await authorize(change, more)).headers.get('location')));
      expect([searchParams.has('error'), searchParams.has('state')]).toEqual([true, false]);
    }
  });

  if (!isDeployed) {
    test('writes nothing, as GET nor as HEAD', async () => {
      const before = (await portico.local.scan()).length;
      await authorize();
      await fetch(`${portico.baseUrl}/oauth2/authorize?${new URLSearchParams(parametersOf())}`, {
        method: 'HEAD',
        redirect: 'manual',
      });
      expect((await portico.local.scan()).length).toBe(before);
    });
  }
});

describe('the sign-in that it leads to', () => {
  test('gives a code that the client exchanges with the same redirect URI', async () => {
    const { email } = await at.newMember();
    const { code } = (await at.login(email, { clientId, redirectUri })).json;
    const answer = await at.exchange(code, { client_id: clientId, redirect_uri: redirectUri });
    expect([answer.status, answer.json.token_type]).toEqual([200, 'Bearer']);
  });

  test.each<[string, Record<string, string>]>([
    ['without the redirect URI', {}],
    ['with another one', { redirect_uri: second }],
    ['with the verifier of another', { redirect_uri: redirectUri, code_verifier: 'v'.repeat(43) }],
    ['as another client', { redirect_uri: redirectUri, client_id: 'medplum-cli' }],
  ])('ends when the code is exchanged %s', async (_, change) => {
    const { email } = await at.newMember();
    const { code } = (await at.login(email, { clientId, redirectUri })).json;
    const wrong = await at.exchange(code, { client_id: clientId, ...change });
    expect([wrong.status, wrong.json.error]).toEqual([400, 'invalid_grant']);
    const right = await at.exchange(code, { client_id: clientId, redirect_uri: redirectUri });
    expect([right.status, right.json.error]).toEqual([400, 'invalid_grant']);
  });

  test.each<[string, object, string]>([
    ['an unknown client', { clientId: randomUUID() }, 'clientId'],
    ['a foreign redirect URI', { redirectUri: 'https://evil.example/' }, 'redirectUri'],
    ['a redirect URI of nobody', { clientId: '', redirectUri: 'https://evil.example/' }, 'redirectUri'],
    ['an origin that begins like ours', { clientId: '', redirectUri: 'BASE.evil.example/' }, 'redirectUri'],
    [
      'our origin but no page of the app',
      { clientId: '', redirectUri: 'BASE/fhir/R4/Binary/1' },
      'redirectUri',
    ],
    ['a page of the app that is another', { clientId: '', redirectUri: 'BASE/apple' }, 'redirectUri'],
    ['no challenge', { codeChallenge: undefined }, 'codeChallenge'],
    ['no challenge and no client', { clientId: '', codeChallenge: undefined }, 'codeChallenge'],
    ['an unknown scope', { scope: 'everything' }, 'scope'],
    ['the command line elsewhere', { clientId: 'medplum-cli', redirectUri: second }, 'redirectUri'],
    [
      'the command line nowhere',
      { clientId: 'medplum-cli', redirectUri: undefined, codeChallenge: undefined },
      'redirectUri',
    ],
  ])('is refused with %s', async (_, change, field) => {
    const filled = JSON.parse(JSON.stringify(change).replace('BASE', portico.baseUrl));
    const asked = Object.fromEntries(Object.keys(change).map((name) => [name, filled[name]]));
    const answer = await at.login(newAddress(), { clientId, redirectUri, ...asked });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
  });

  test('of our own app is at a page of its own', async () => {
    const { email } = await at.newMember();
    const page = `${portico.baseUrl}/app/external`;
    const { code } = (await at.login(email, { redirectUri: page })).json;
    expect((await at.exchange(code, { redirect_uri: page })).status).toBe(200);
  });

  test('of the command line needs no PKCE, but its one redirect URI', async () => {
    const { email, membership } = await at.newMember();
    const asked = { clientId: 'medplum-cli', codeChallenge: undefined, redirectUri: cli.redirect_uri };
    const exchange = (code: string, change: Record<string, string>) =>
      at.ask({ grant_type: 'authorization_code', code, client_id: 'medplum-cli', ...change });
    const lost = (await at.login(email, asked)).json;
    expect((await exchange(lost.code, {})).json.error).toBe('invalid_grant');
    const proven = (await at.login(email, asked)).json;
    const verified = { redirect_uri: cli.redirect_uri, code_verifier: 'v'.repeat(43) };
    expect((await exchange(proven.code, verified)).json.error).toBe('invalid_grant');
    const { code } = (await at.login(email, asked)).json;
    const answer = await exchange(code, { redirect_uri: cli.redirect_uri });
    expect(answer.status).toBe(200);
    expect((await at.me(answer.json.access_token)).json.membership.id).toBe(membership);
  });

  test('of the command line may choose a membership of any Project', async () => {
    const { email } = await at.newMember();
    const { id } = await at.invite(email, 1, { sendEmail: false });
    const { login } = (await at.login(email, { clientId: 'medplum-cli', redirectUri: cli.redirect_uri }))
      .json;
    expect((await at.post('auth/profile', { login, profile: id })).status).toBe(200);
  });
});

test.each([
  'http://app.example.org/',
  'https://app.example.org/#fragment',
  'https://user:pass@app.example.org/',
  'javascript:alert(1)',
  'data:text/html,x',
  'myapp:callback',
  '/callback',
  '',
  7,
  `https://app.example.org/${'x'.repeat(2000)}`,
])('a client cannot be created with %j as redirect URI', async (uri) => {
  const path = `admin/projects/${portico.projects[0]?.id}/client`;
  for (const [body, field] of [
    [{ redirectUris: ['https://ok.example', uri] }, 'redirectUris'],
    [{ redirectUri: uri }, 'redirectUri'],
  ] as const) {
    const answer = await portico.api('POST', path, { body: { name: 'Portal', ...body } });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
  }
});

test('a redirect URI that was written past the rules leads nowhere', async () => {
  const path = `fhir/R4/ClientApplication/${clientId}`;
  const { json } = await portico.api('GET', path);
  const evil = 'javascript:alert(1)';
  await portico.api('PUT', path, { body: { ...json, redirectUris: [...json.redirectUris, evil] } });
  expect((await authorize({ redirect_uri: evil })).status).toBe(400);
  expect((await authorize()).status).toBe(302);
});
