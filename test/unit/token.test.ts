import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Recent } from '../../shared/base/recent.ts';
import { type PublicKeys, type Signer, thumbprint } from '../../shared/carry/keys/signing-keys.ts';
import {
  type Claims,
  mintAccessToken,
  signJwt,
  verifyAccessToken,
} from '../../shared/identity/gate/access-token.ts';
import fc from '../setup/fast-check.ts';

const baseUrl = 'https://portico.example';
const nowMs = Date.UTC(2026, 0, 31);
const nowSeconds = nowMs / 1000;
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicJwk = pair.publicKey.export({ format: 'jwk' });
const kid = thumbprint(publicJwk as never);
const signer: Signer = { kid, publicJwk: publicJwk as never, sign: async (data) => rs256(data) };
const asked: string[] = [];
const publicKeys: PublicKeys = {
  list: async () => [],
  async find(id) {
    asked.push(id);
    return id === kid ? pair.publicKey : undefined;
  },
};
const caller: Claims = {
  loginId: 'l1',
  project: 'p1',
  membershipId: 'm1',
  profile: 'Practitioner/1',
  clientId: 'c1',
  subject: 's1',
  scope: 'openid',
};
const claims = {
  iss: baseUrl,
  aud: baseUrl,
  sub: 's1',
  client_id: 'c1',
  login_id: 'l1',
  project: 'p1',
  membership: 'm1',
  profile: 'Practitioner/1',
  scope: 'openid',
  jti: 'j1',
  iat: nowSeconds,
  nbf: nowSeconds,
  exp: nowSeconds + 3600,
};

function rs256(data: string): Buffer {
  return sign('sha256', Buffer.from(data), pair.privateKey);
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** A token that the stage's own key signs, whatever it says. */
function signed(header: object, payload: unknown = claims): string {
  const text = `${encode({ alg: 'RS256', typ: 'at+jwt', kid, ...header })}.${encode(payload)}`;
  return `${text}.${rs256(text).toString('base64url')}`;
}

let verified: Recent<number> | undefined;

function verify(token: string, atMs = nowMs): Promise<Claims> {
  return verifyAccessToken(publicKeys, token, { baseUrl, nowMs: atMs, ...(verified ? { verified } : {}) });
}

const unauthorized = { kind: 'unauthorized', message: 'Unauthorized' };

describe.each([
  ['each time anew', undefined],
  ['with a memory of those that were good', new Recent<number>(1000)],
])('verifyAccessToken, %s,', (_, memory) => {
  let token = '';
  beforeAll(async () => {
    verified = memory;
    token = await mintAccessToken(signer, caller, { baseUrl, nowMs, tokenId: 'j1' });
  });

  test('gives back who calls', async () => {
    expect(await verify(token)).toEqual(caller);
    expect(await verify(signed({}))).toEqual(caller);
  });

  test('ends to the second after an hour', async () => {
    await expect(verify(token, nowMs + 3_599_999)).resolves.toEqual(caller);
    await expect(verify(token, nowMs + 3_600_000)).rejects.toMatchObject(unauthorized);
  });

  test('is good at once on a host whose clock is a little behind', async () => {
    await expect(verify(token, nowMs - 1)).resolves.toEqual(caller);
    verified = undefined;
    await expect(verify(token, nowMs - 60_000)).rejects.toMatchObject(unauthorized);
    verified = memory;
  });

  const { exp: _exp, iat: _iat, sub: _sub, jti: _jti, ...bare } = claims;
  test.each<[string, () => string]>([
    ['nothing', () => ''],
    ['two dots', () => '..'],
    ['two parts', () => token.split('.').slice(0, 2).join('.')],
    ['four parts', () => `${token}.x`],
    ['five parts, as of a JWE', () => `${token}.x.y`],
    ['alg none without signature', () => `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${encode(claims)}.`],
    ['alg None', () => signed({ alg: 'None' })],
    ['no alg', () => signed({ alg: undefined })],
    ['HS256 with the public key as secret', () => hs256()],
    ['RS512', () => signed({ alg: 'RS512' })],
    ['PS256', () => signed({ alg: 'PS256' })],
    ['an unknown kid', () => signed({ kid: 'other' })],
    ['a path as kid', () => signed({ kid: '../../../../dev/null' })],
    ['a long kid', () => signed({ kid: 'k'.repeat(4000) })],
    ['a kid that is no string', () => signed({ kid: { $ne: 1 } })],
    ['no kid', () => signed({ kid: undefined })],
    ['kid __proto__', () => signed({ kid: '__proto__' })],
    ['a key of its own beside an unknown kid', () => signed({ kid: 'mine', jwk: publicJwk })],
    ['a jku beside an unknown kid', () => signed({ kid: 'mine', jku: 'http://127.0.0.1:1/jwks' })],
    ['an x5u beside an unknown kid', () => signed({ kid: 'mine', x5u: 'http://127.0.0.1:1/x' })],
    ['a crit that nobody knows', () => signed({ crit: ['exp2'], exp2: 1 })],
    ['b64 false', () => signed({ crit: ['b64'], b64: false })],
    ['typ JWT', () => signed({ typ: 'JWT' })],
    ['no typ', () => signed({ typ: undefined })],
    ['an id token', () => signed({ typ: 'JWT' }, { ...claims, aud: 'c1' })],
    ['expired', () => signed({}, { ...claims, exp: nowSeconds })],
    ['no exp', () => signed({}, { ...bare, iat: nowSeconds, sub: 's1', jti: 'j1' })],
    ['exp as text', () => signed({}, { ...claims, exp: String(nowSeconds + 3600) })],
    ['exp null', () => signed({}, { ...claims, exp: null })],
    ['not yet valid', () => signed({}, { ...claims, nbf: nowSeconds + 1 })],
    ['nbf as text', () => signed({}, { ...claims, nbf: '0' })],
    ['no iat', () => signed({}, { ...bare, exp: nowSeconds + 60, sub: 's1', jti: 'j1' })],
    ['no sub', () => signed({}, { ...bare, exp: nowSeconds + 60, iat: nowSeconds, jti: 'j1' })],
    ['another issuer', () => signed({}, { ...claims, iss: 'https://other.example' })],
    ['issuer with a slash more', () => signed({}, { ...claims, iss: `${baseUrl}/` })],
    ['no issuer', () => signed({}, { ...claims, iss: undefined })],
    ['another audience', () => signed({}, { ...claims, aud: 'c1' })],
    ['no audience', () => signed({}, { ...claims, aud: undefined })],
    ['a claim that is no string', () => signed({}, { ...claims, membership: { id: 'm1' } })],
    ['a claim missing', () => signed({}, { ...claims, login_id: undefined })],
    ['claims that are no object', () => signed({}, [claims])],
    ['claims null', () => signed({}, null)],
    ['claims that are no JSON', () => raw('{')],
    ['a header that is no JSON', () => `${Buffer.from('{').toString('base64url')}.${encode(claims)}.AAAA`],
    ['over 8 KB', () => signed({}, { ...claims, padding: 'x'.repeat(8192) })],
    ['text that is no base64url', () => `${token.split('.').slice(0, 2).join('.')}.!!!!`],
    [
      'the signature of another token',
      () =>
        `${signed({}, { ...claims, project: 'p2' })
          .split('.')
          .slice(0, 2)
          .join('.')}.${token.split('.')[2]}`,
    ],
    ['an empty signature', () => `${token.split('.').slice(0, 2).join('.')}.`],
  ])('refuses %s, in the one text', async (_, make) => {
    await expect(verify(make())).rejects.toMatchObject(unauthorized);
  });

  test('asks for no key that is longer than our own ids', async () => {
    asked.length = 0;
    await expect(verify(signed({ kid: 'k'.repeat(65) }))).rejects.toMatchObject(unauthorized);
    await expect(verify(`${encode({ alg: 'none' })}.${encode(claims)}.`)).rejects.toMatchObject(unauthorized);
    expect(asked).toEqual([]);
  });

  test('refuses a token of another key that names ours', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const forger: Signer = { ...signer, sign: async (data) => sign('sha256', Buffer.from(data), other) };
    await expect(verify(await signJwt(forger, 'at+jwt', claims))).rejects.toMatchObject(unauthorized);
  });

  test('lets a fault of the key store through: it is not the caller who is wrong', async () => {
    const broken: PublicKeys = { ...publicKeys, find: () => Promise.reject(new TypeError('no table')) };
    await expect(verifyAccessToken(broken, token, { baseUrl, nowMs })).rejects.toThrow(TypeError);
  });

  test('refuses a token in which any one character is another', async () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= +/\u00e9'];
    const place = fc.nat({ max: token.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.constantFrom(...letters), async (at, letter) => {
        fc.pre(token[at] !== letter && !isPadding(token, at, letter));
        const mutated = token.slice(0, at) + letter + token.slice(at + 1);
        await expect(verify(mutated)).rejects.toMatchObject(unauthorized);
      }),
      { numRuns: 1000 },
    );
  });

  test('never throws anything but a refusal, whatever the text', async () => {
    const part = fc.oneof(
      fc.base64String(),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
    );
    const any = fc.oneof(
      fc.string(),
      fc.tuple(part, part, part).map((parts) => parts.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(any, async (text) => {
        await expect(verify(text)).rejects.toMatchObject(unauthorized);
      }),
      { numRuns: 1000 },
    );
  });

  function hs256(): string {
    const text = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${encode(claims)}`;
    const pem = pair.publicKey.export({ format: 'pem', type: 'spki' });
    return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
  }

  function raw(payload: string): string {
    const text = `${encode({ alg: 'RS256', typ: 'at+jwt', kid })}.${Buffer.from(payload).toString('base64url')}`;
    return `${text}.${rs256(text).toString('base64url')}`;
  }
});

describe('a token that was good before', () => {
  const token = signed({});

  beforeAll(async () => {
    verified = new Recent<number>(2);
    await verify(token);
    asked.length = 0;
  });

  test('is not checked again', async () => {
    expect(await verify(token)).toEqual(caller);
    expect(asked).toEqual([]);
  });

  test('is good until its end', async () => {
    await expect(verify(token, nowMs + 3_599_999)).resolves.toEqual(caller);
    await expect(verify(token, nowMs + 3_600_000)).rejects.toMatchObject(unauthorized);
  });

  test('is forgotten when many others came after it', async () => {
    for (const jti of ['j2', 'j3']) await verify(signed({}, { ...claims, jti }));
    asked.length = 0;
    expect(await verify(token)).toEqual(caller);
    expect(asked).toEqual([kid]);
  });
});

/** The last letter of a base64url text carries bits that nobody reads: another letter may mean the same bytes. */
function isPadding(token: string, at: number, letter: string): boolean {
  const end = token.indexOf('.', at);
  if (at !== (end < 0 ? token.length : end) - 1) return false;
  const part = token.slice(token.lastIndexOf('.', at) + 1, at + 1);
  const mutated = part.slice(0, -1) + letter;
  return Buffer.from(part, 'base64url').equals(Buffer.from(mutated, 'base64url'));
}
