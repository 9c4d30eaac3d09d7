import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mostExchanges } from '../../shared/identity/tokens/token-exchange.ts';
import { Browser } from '../issuer/browser.ts';
import {
  type OwnIssuer,
  signToken,
  signWithPublicKey,
  startOwnIssuer,
  unsigned,
} from '../issuer/own-issuer.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createClient } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';
import { type Invited, type WithIssuer, withIssuer } from './with-issuer.ts';

let portico: Portico;
let own: OwnIssuer;
let at: SigningIn;
let external: WithIssuer;

beforeAll(async () => {
  [portico, own] = await Promise.all([startPortico(), startOwnIssuer()]);
  at = signingIn(portico);
  external = withIssuer(portico);
  for (const index of [0, 1] as const) {
    const added = await external.configure({ issuer: own.issuer, clientId: own.clientId }, index);
    expect(added.status).toBe(200);
  }
});
afterAll(async () => {
  await portico.stop();
  await own.stop();
});

let people = 0;
let subject = '';
beforeEach(() => {
  people += 1;
  subject = `subject-${people}`;
});

/** Goes to the issuer and comes back as the subject, with what its token endpoint gives. */
async function comeBack(location: string, browser: Browser, claims: object = {}): Promise<URL> {
  const asked = new URL(location).searchParams;
  own.idToken = own.token({ sub: subject, nonce: asked.get('nonce'), ...claims });
  const query = new URLSearchParams({ code: 'a code', state: String(asked.get('state')) });
  return browser.follow(`${asked.get('redirect_uri')}?${query}`, external.appUri);
}

async function join(change: object = {}, index: 0 | 1 = 0, claims: object = {}): Promise<Invited> {
  const invited = await external.invite(own.issuer, change, index);
  const browser = new Browser();
  const { json } = await external.accept(browser, invited.link);
  const back = await comeBack(json.location, browser, claims);
  expect(back.searchParams.get('error_description')).toBeNull();
  return invited;
}

const tokenType = 'urn:ietf:params:oauth:token-type:';

function exchange(token: string, change: Record<string, string> = {}, index: 0 | 1 = 0): Promise<Answer> {
  return at.ask({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    client_id: String(portico.projects[index]?.clientId),
    subject_token: token,
    subject_token_type: `${tokenType}id_token`,
    ...change,
  });
}

function expectInvalid({ status, json }: Answer, description = 'The subject_token is not valid') {
  expect([status, json]).toEqual([400, { error: 'invalid_request', error_description: description }]);
}

const noMembership = 'The subject has no membership that can be chosen';
const mine = (claims: object = {}, header?: object) => own.token({ sub: subject, ...claims }, header);

describe('a token of a configured issuer', () => {
  test.each(['id_token', 'access_token', 'jwt'])('as %s becomes one of ours', async (name) => {
    const { membership, email } = await join();
    const answer = await exchange(mine(), { subject_token_type: tokenType + name });
    expect(answer.json).toMatchObject({
      token_type: 'Bearer',
      issued_token_type: `${tokenType}access_token`,
      scope: 'openid',
    });
    const me = await at.me(answer.json.access_token);
    expect(me.json).toMatchObject({ membership: { id: membership }, user: { email } });
    // By which all of a person's logins are ended.
    expect(me.json.security.sessions).toContainEqual(expect.objectContaining({ current: true }));
  });

  test.each([-1e300, -1, 1.5, 1e300, '7'])('is taken where its auth_time is %j', async (auth_time) => {
    await join();
    expect((await exchange(mine({ auth_time }))).status).toBe(200);
  });

  test('gives a token that ends with the membership', async () => {
    const { membership } = await join();
    const { json } = await exchange(mine());
    await portico.api('DELETE', `admin/projects/${portico.projects[0]?.id}/members/${membership}`);
    expect((await at.me(json.access_token)).status).toBe(401);
    expectInvalid(await exchange(mine()), noMembership);
  });

  test('is not refreshed: whoever has the subject can show a new one', async () => {
    await join();
    const { json } = await exchange(mine(), { scope: 'openid offline_access' });
    expect(json).toMatchObject({ scope: 'openid' });
    expect(json.refresh_token).toBeUndefined();
  });

  test('with several memberships needs membership_id', async () => {
    const first = await join();
    const change = { email: first.email, resourceType: 'Patient', forceNewMembership: true };
    const second = await join(change);
    expectInvalid(await exchange(mine()), 'There are several memberships: name one as membership_id');
    for (const { membership } of [first, second]) {
      const { json } = await exchange(mine(), { membership_id: membership });
      expect((await at.me(json.access_token)).json.membership.id).toBe(membership);
    }
    const other = await at.newMember();
    expectInvalid(await exchange(mine(), { membership_id: other.membership }), noMembership);
  });

  test('creates nobody, links nobody and accepts nothing', async () => {
    const { email, membership } = await external.invite(own.issuer);
    expectInvalid(await exchange(mine({ email, email_verified: true })), noMembership);
    expectInvalid(await exchange(mine({ sub: email })), noMembership);
    await join({ email, resourceType: 'Patient', forceNewMembership: true });
    expectInvalid(await exchange(mine(), { membership_id: membership }), noMembership);
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    expect((await portico.api('GET', path)).json.active).toBe(false);
  });

  test('opens no membership that wants a password', async () => {
    const { email } = await join();
    const change = { email, resourceType: 'Patient', forceNewMembership: true, authentication: 'password' };
    const other = await external.invite(own.issuer, change);
    const path = `admin/projects/${portico.projects[0]?.id}/members/${other.membership}`;
    await portico.api('POST', path, { body: { active: true } });
    expectInvalid(await exchange(mine(), { membership_id: other.membership }), noMembership);
  });

  test('opens one that wants a second factor when the issuer says that there was one', async () => {
    const { membership } = await join({ mfaRequired: true }, 0, { amr: ['pwd', 'mfa'] });
    expectInvalid(await exchange(mine()), noMembership);
    const { json } = await exchange(mine({ amr: ['mfa'] }));
    expect((await at.me(json.access_token)).json.membership.id).toBe(membership);
  });

  test('says nothing in another Project, for the same issuer and subject', async () => {
    const here = await join();
    expectInvalid(await exchange(mine(), {}, 1), noMembership);
    subject = `${subject}-there`;
    const there = await join({ email: here.email }, 1);
    expect(there.user).toBe(here.user);
    expectInvalid(await exchange(mine(), { membership_id: there.membership }), noMembership);
    const { json } = await exchange(mine(), {}, 1);
    expect((await at.me(json.access_token)).json.membership.id).toBe(there.membership);
  });
});

describe('a token is refused', () => {
  // Of somebody whose own are good.
  beforeAll(async () => {
    subject = 'subject-refused';
    await join();
  });
  beforeEach(() => {
    subject = 'subject-refused';
  });

  const seconds = (n: number) => Math.floor(Date.now() / 1000) + n;
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const claims = () => JSON.parse(Buffer.from(mine().split('.')[1] ?? '', 'base64url').toString());

  test.each<[string, () => string]>([
    ['of another audience', () => mine({ aud: 'another' })],
    ['without an audience', () => mine({ aud: undefined })],
    ['of several audiences without azp', () => mine({ aud: [own.clientId, 'another'] })],
    ['issued to another client', () => mine({ azp: 'another' })],
    ['of another issuer', () => mine({ iss: 'https://other.example' })],
    ['without an issuer', () => mine({ iss: undefined })],
    ['of an issuer that is no text', () => mine({ iss: { toString: 1 } })],
    ['that expired', () => mine({ exp: seconds(-60) })],
    ['that never expires', () => mine({ exp: undefined })],
    ['that expires in words', () => mine({ exp: 'never' })],
    ['of the future', () => mine({ iat: seconds(120) })],
    ['that is not valid yet', () => mine({ nbf: seconds(120) })],
    ['of eleven minutes ago', () => mine({ iat: seconds(-660), exp: seconds(600) })],
    ['of no time', () => mine({ iat: undefined })],
    ['without a subject', () => mine({ sub: undefined })],
    ['with an empty subject', () => mine({ sub: '' })],
    ['with a subject that is no text', () => mine({ sub: { a: 1 } })],
    ['with an endless subject', () => mine({ sub: 'x'.repeat(256) })],
    ['of another kind', () => mine({}, { typ: 'logout+jwt' })],
    ['of a log-out', () => mine({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })],
    ['with an unknown kid', () => mine({}, { kid: 'unknown' })],
    ['with a path as kid', () => mine({}, { kid: '../../etc/passwd' })],
    ['with a critical header', () => mine({}, { crit: ['x'], x: 1 })],
    ['without a signature', () => unsigned(claims())],
    ['signed with the public key', () => signWithPublicKey(own.publicKey, { kid: 'key-0' }, claims())],
    ['signed by a stranger', () => signToken(stranger.privateKey, { alg: 'RS256', kid: 'key-0' }, claims())],
    ['with its own key inside', () => withOwnKey(claims())],
    ['signed with a short key', () => signToken(weak.privateKey, { alg: 'RS256', kid: 'key-0' }, claims())],
    ['cut off', () => mine().slice(0, -10)],
    ['that is none', () => 'x'.repeat(100)],
    ['of 20 kB', () => mine({ more: 'x'.repeat(20_000) })],
  ])('%s', async (_what, made) => {
    expect((await exchange(mine())).status).toBe(200);
    expectInvalid(await exchange(made()));
  });

  function withOwnKey(payload: object): string {
    const jwk = stranger.publicKey.export({ format: 'jwk' });
    const [jku, x5u] = [`${own.issuer}/planted`, `${own.issuer}/planted`];
    return signToken(stranger.privateKey, { alg: 'RS256', kid: 'key-0', jwk, jku, x5u }, payload);
  }

  test('and what it names is never fetched', () => {
    expect(own.hits.get('/planted')).toBeUndefined();
  });
});

describe('a request is refused', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['without a token', { subject_token: '' }, 'invalid_request', 'Missing subject_token'],
    ['without a type', { subject_token_type: '' }, 'invalid_request', 'Unsupported subject_token_type'],
    [
      'for SAML',
      { subject_token_type: `${tokenType}saml2` },
      'invalid_request',
      'Unsupported subject_token_type',
    ],
    ['of an unknown client', { client_id: 'unknown' }, 'invalid_client', 'Unknown client'],
    ['of no client', { client_id: '' }, 'invalid_client', 'Unknown client'],
    ['with a wrong secret', { client_secret: 'wrong' }, 'invalid_client', 'Invalid client id or secret'],
    ['with an unknown scope', { scope: 'everything' }, 'invalid_scope', 'Unknown scope everything'],
  ])('%s', async (_what, change, error, description) => {
    const { status, json } = await exchange(mine(), change);
    expect([status, json]).toEqual([400, { error, error_description: description }]);
  });

  test('for a client that has expired, whether or not it shows its secret', async () => {
    await join();
    const { id, secret } = await createClient(portico);
    const change = { client_id: id };
    expect((await exchange(mine(), change)).status).toBe(200);
    const path = `admin/projects/${portico.projects[0]?.id}/client/${id}`;
    const expires = new Date(Date.now() + 1_500).toISOString();
    expect((await portico.api('POST', path, { body: { expires } })).status).toBe(200);
    await pause(Math.max(0, Date.parse(expires) - Date.now() + 10));
    for (const shown of [{}, { client_secret: secret }])
      expect((await exchange(mine(), { ...change, ...shown })).json.error).toBe('invalid_client');
  });

  test('when its issuer was removed', async () => {
    await join();
    expect((await exchange(mine())).status).toBe(200);
    const browser = new Browser();
    const start = await browser.get(external.startUrl(own.issuer));
    const back = await comeBack(String(start.headers.get('location')), browser);
    const path = `admin/projects/${portico.projects[0]?.id}/issuers`;
    const { json } = await portico.api('GET', path);
    await portico.api('DELETE', `${path}/${json.issuers[0].id}`);
    expectInvalid(await exchange(mine()));
    // Nor is a sign-in finished that it has vouched for before.
    expect(await external.tokenFor(back)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    await external.configure({ issuer: own.issuer, clientId: 'another client' });
    expectInvalid(await exchange(mine()));
    await external.configure({ issuer: own.issuer, clientId: own.clientId });
    expect((await exchange(mine())).status).toBe(200);
  });

  test('when its issuer is removed while it is asked for its keys', async () => {
    const asked = await startOwnIssuer();
    const clientId = own.clientId;
    const { json: added } = await external.configure({ issuer: asked.issuer, clientId });
    const { link } = await external.invite(asked.issuer);
    const browser = new Browser();
    const { json } = await external.accept(browser, link);
    const sent = new URL(json.location).searchParams;
    asked.idToken = asked.token({ sub: subject, nonce: sent.get('nonce') });
    const query = new URLSearchParams({ code: 'a code', state: String(sent.get('state')) });
    await browser.follow(`${sent.get('redirect_uri')}?${query}`, external.appUri);
    asked.answers.set('/jwks', async (_request, response) => {
      await portico.api('DELETE', `admin/projects/${portico.projects[0]?.id}/issuers/${added.id}`);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: [asked.publicJwk()] }));
    });
    expectInvalid(await exchange(asked.token({ sub: subject })));
    await asked.stop();
  });

  test('not of another client of the Project that shows its secret', async () => {
    await join();
    const client = await createClient(portico);
    const change = { client_id: client.id, client_secret: client.secret };
    expect((await exchange(mine(), change)).status).toBe(200);
  });
});

describe('a sign-in with a bad ID token comes back refused', () => {
  test.each<[string, object]>([
    ['with another nonce', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['for another client', { aud: 'another' }],
    ['of another issuer', { iss: 'https://other.example' }],
    ['that expired', { exp: 1 }],
  ])('%s', async (_what, claims) => {
    await join();
    const browser = new Browser();
    const start = await browser.get(external.startUrl(own.issuer));
    const back = await comeBack(String(start.headers.get('location')), browser, claims);
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('code')).toBeNull();
  });
});

test('an exchange is one of five hundred in an hour, for a person and Project', async () => {
  await join();
  const { json } = await exchange(mine());
  const { id } = (await at.me(json.access_token)).json.user;
  const [counter] = await portico.local.scan(`RATE#exchange#${id}#`);
  if (!counter) throw new Error('Nothing counts them');
  await portico.local.store.put({ ...counter, count: mostExchanges - 1 });
  expect((await exchange(mine())).status).toBe(200);
  const { status, headers } = await exchange(mine());
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
});
