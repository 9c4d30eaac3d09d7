import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type OwnIssuer,
  signToken,
  signWithPublicKey,
  startOwnIssuer,
  unsigned,
} from '../issuer/own-issuer.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
let own: OwnIssuer;
/** Publishes its keys, and has them with us. */
let publishing: string;
let inline: string;

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwks = {
  keys: [
    { ...pair.publicKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig' },
    { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig' },
  ],
};

beforeAll(async () => {
  [portico, own] = await Promise.all([startPortico(), startOwnIssuer()]);
  at = signingIn(portico);
  publishing = (await create({ jwksUri: `${own.issuer}/jwks` })).json.id;
  inline = (await create({ jwks })).json.id;
});
afterAll(async () => {
  await portico.stop();
  await own.stop();
});

function create(keys: object): Promise<Answer> {
  const path = `admin/projects/${portico.projects[0]?.id}/client`;
  return portico.api('POST', path, { body: { name: 'Lab', ...keys } });
}

const seconds = (n: number) => Math.floor(Date.now() / 1000) + n;

function claims(clientId: string, change: object = {}): object {
  const aud = `${portico.baseUrl}/oauth2/token`;
  return { iss: clientId, sub: clientId, aud, exp: seconds(240), jti: randomUUID(), ...change };
}

const mine = (change: object = {}, header: object = {}) =>
  signToken(rsa.privateKey, { alg: 'RS256', kid: 'rsa', ...header }, claims(inline, change));

function ask(assertion: string, change: Record<string, string> = {}): Promise<Answer> {
  return at.ask({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
    ...change,
  });
}

function expectRefused({ status, json }: Answer) {
  expect([status, json]).toEqual([
    400,
    { error: 'invalid_client', error_description: 'The client assertion is not valid' },
  ]);
}

describe('a client that signs', () => {
  test('gets a token with the keys that it published', async () => {
    const { json } = await ask(own.token({ ...claims(publishing), iat: undefined }));
    expect((await at.me(json.access_token)).json.profile.id).toBe(publishing);
  });

  test('gets a token with the keys that it was created with', async () => {
    const { json } = await ask(mine(), { client_id: inline });
    expect((await at.me(json.access_token)).json.profile.id).toBe(inline);
  });

  test.each(['SELF', 'SELF/oauth2/token'])('may mean %s', async (aud) => {
    expect((await ask(mine({ aud: aud.replace('SELF', portico.baseUrl) }))).status).toBe(200);
  });

  test('uses an assertion once, also of many at the same time', async () => {
    const assertion = mine();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(assertion)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer);
  });

  test('does not use up the jti of another client', async () => {
    const jti = randomUUID();
    expect((await ask(mine({ jti }))).status).toBe(200);
    expect((await ask(own.token({ ...claims(publishing), jti }))).status).toBe(200);
  });

  test('gets none once it is deleted', async () => {
    const { id } = (await create({ jwks })).json;
    const assertion = () => signToken(rsa.privateKey, { alg: 'RS256', kid: 'rsa' }, claims(id));
    expect((await ask(assertion())).status).toBe(200);
    await portico.api('DELETE', `fhir/R4/ClientApplication/${id}`);
    expectRefused(await ask(assertion()));
  });
});

describe('an assertion is refused', () => {
  test.each<[string, () => string]>([
    ['of another issuer', () => mine({ iss: publishing })],
    ['about another client', () => mine({ sub: publishing })],
    ['about a client without keys', () => mine({ iss: other(), sub: other() })],
    ['about nobody', () => mine({ sub: undefined })],
    ['about an unknown client', () => mine({ iss: 'unknown', sub: 'unknown' })],
    ['for another audience', () => mine({ aud: 'https://other.example/oauth2/token' })],
    ['for no audience', () => mine({ aud: undefined })],
    ['that expired', () => mine({ exp: seconds(-10) })],
    ['that never expires', () => mine({ exp: undefined })],
    ['that lives for six minutes', () => mine({ exp: seconds(360) })],
    ['that lives for ever', () => mine({ exp: 1e300 })],
    ['that is not valid yet', () => mine({ nbf: seconds(60) })],
    ['without jti', () => mine({ jti: undefined })],
    ['with a jti that is no text', () => mine({ jti: { a: 1 } })],
    ['with an endless jti', () => mine({ jti: 'x'.repeat(256) })],
    ['with an unknown key', () => mine({}, { kid: 'unknown' })],
    [
      'with the key of another',
      () => signToken(rsa.privateKey, { alg: 'RS256', kid: 'key-0' }, claims(publishing)),
    ],
    ['without a signature', () => unsigned(claims(inline))],
    ['signed with the public key', () => signWithPublicKey(rsa.publicKey, { kid: 'rsa' }, claims(inline))],
    ['that is none', () => 'x.y.z'],
  ])('%s', async (_what, made) => {
    expectRefused(await ask(made()));
  });

  function other(): string {
    return String(portico.projects[0]?.clientId);
  }

  test.each<[string, Record<string, string>, string]>([
    ['of an unknown type', { client_assertion_type: 'urn:x' }, 'invalid_client'],
    ['of no type', { client_assertion_type: '' }, 'invalid_client'],
    ['for another client_id', { client_id: 'another' }, 'invalid_client'],
    ['beside a secret', { client_id: 'a', client_secret: 'b' }, 'invalid_request'],
  ])('%s', async (_what, change, error) => {
    const { status, json } = await ask(mine(), change);
    expect([status, json.error]).toEqual([400, error]);
  });

  test('when the keys cannot be had', async () => {
    const { id } = (await create({ jwksUri: `${own.issuer}/gone` })).json;
    expectRefused(await ask(signToken(rsa.privateKey, { alg: 'RS256', kid: 'rsa' }, claims(id))));
  });
});

describe('keys of a new client are refused', () => {
  test.each<[string, object, string]>([
    ['over http', { jwksUri: 'http://keys.example/jwks' }, 'jwksUri'],
    ['in a file', { jwksUri: 'file:///etc/passwd' }, 'jwksUri'],
    ['as a number', { jwksUri: 7 }, 'jwksUri'],
    ['in both ways', { jwksUri: 'https://keys.example/jwks', jwks }, 'jwks'],
    ['without keys', { jwks: { keys: [] } }, 'jwks'],
    ['as text', { jwks: 'keys' }, 'jwks'],
    ['with a private key', { jwks: { keys: [rsa.privateKey.export({ format: 'jwk' })] } }, 'jwks'],
    ['with a shared secret', { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, 'jwks'],
    ['beyond 32 KiB', { jwks: { keys: [{ ...jwks.keys[0], x5c: ['x'.repeat(33_000)] }] } }, 'jwks'],
  ])('%s', async (what, keys, field) => {
    const answer = await create(keys);
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
    // Whoever has sent a secret is told that it is none any more.
    const isKnown = /private|shared/.test(what);
    expect(answer.text.includes('make new ones, these are known now')).toBe(isKnown);
  });
});
