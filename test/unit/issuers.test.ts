import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { type Issuers, openIssuers } from '../../shared/identity/issuers/issuers.ts';
import { type OwnIssuer, startOwnIssuer } from '../issuer/own-issuer.ts';

let own: OwnIssuer;
let clock: { nowMs: number };
let issuers: Issuers;

/** As on a laptop. @param timeoutMs how long an answer is waited for; otherwise as long as Portico does */
const opened = (timeoutMs?: number) => {
  const patience = timeoutMs === undefined ? {} : { timeoutMs };
  return openIssuers(openIssuerWeb({ baseUrl: 'http://127.0.0.1:8787', ...patience }), () => clock.nowMs);
};

beforeEach(async () => {
  await own?.stop();
  own = await startOwnIssuer();
  clock = { nowMs: Date.now() };
  issuers = opened();
});
afterAll(() => own.stop());

const verify = (token: string) =>
  issuers.verify(`${own.issuer}/jwks`, token, { issuer: own.issuer, audience: own.clientId });
const asked = (path: string) => own.hits.get(path) ?? 0;
const minute = 60_000;

describe('keys of an issuer', () => {
  test('are fetched once for all who ask, and again after ten minutes', async () => {
    await Promise.all(Array.from({ length: 20 }, () => verify(own.token())));
    expect(asked('/jwks')).toBe(1);
    clock.nowMs += 9 * minute;
    await verify(own.token());
    expect(asked('/jwks')).toBe(1);
    clock.nowMs += minute;
    await verify(own.token());
    expect(asked('/jwks')).toBe(2);
  });

  test('that changed are found at the first token that names them', async () => {
    const before = own.token();
    await verify(before);
    own.rotate();
    clock.nowMs += minute;
    await Promise.all(Array.from({ length: 20 }, () => verify(own.token())));
    expect(asked('/jwks')).toBe(2);
    await expect(verify(before)).rejects.toThrow('ERR_JWKS_NO_MATCHING_KEY');
  });

  test('are not asked for more than twice a minute, however many tokens name unknown ones', async () => {
    await verify(own.token());
    for (let second = 0; second < 60; second++) {
      clock.nowMs += 1000;
      await expect(verify(own.token({}, { kid: `unknown-${second}` }))).rejects.toThrow();
    }
    expect(asked('/jwks')).toBeLessThanOrEqual(3);
  });

  test('that are good stay when the issuer fails at a new one', async () => {
    await verify(own.token());
    clock.nowMs += minute;
    own.answers.set('/jwks', (_request, response) => response.writeHead(503).end('{}'));
    await expect(verify(own.token({}, { kid: 'unknown' }))).rejects.toThrow('status 503');
    await verify(own.token());
  });

  test('that could not be had are asked for again after half a minute', async () => {
    own.answers.set('/jwks', (_request, response) => response.writeHead(503).end('{}'));
    for (let n = 0; n < 5; n++) await expect(verify(own.token())).rejects.toThrow('status 503');
    expect(asked('/jwks')).toBe(1);
    own.answers.clear();
    clock.nowMs += minute / 2;
    await verify(own.token());
  });
});

describe('a key set is refused', () => {
  test.each<[string, unknown]>([
    ['without keys', {}],
    ['that is null', null],
    ['with an empty list', { keys: [] }],
    ['with keys that are none', { keys: [1, 'x', null, {}] }],
    ['with a secret key', { keys: [{ kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }] }],
    ['with too many', { keys: Array.from({ length: 101 }, () => ({ kty: 'RSA' })) }],
  ])('%s', async (_what, keySet) => {
    own.answers.set('/jwks', (_request, response) => response.end(JSON.stringify(keySet)));
    await expect(verify(own.token())).rejects.toMatchObject({ name: 'IssuerFault' });
  });
});

describe('a document is refused', () => {
  const path = '/.well-known/openid-configuration';
  const good = () => ({
    issuer: own.issuer,
    authorization_endpoint: `${own.issuer}/auth`,
    token_endpoint: `${own.issuer}/token`,
    jwks_uri: `${own.issuer}/jwks`,
  });
  const discover = () => issuers.discover(own.issuer);

  test.each<[string, object, RegExp]>([
    ['of another issuer', { issuer: 'https://other.example' }, /names another issuer/],
    ['of nearly the same issuer', { issuer: 'SELF/' }, /names another issuer/],
    ['without keys', { jwks_uri: undefined }, /jwks_uri/],
    ['with keys in a file', { jwks_uri: 'file:///etc/passwd' }, /jwks_uri/],
    ['with keys over http', { jwks_uri: 'http://keys.example/' }, /jwks_uri/],
    [
      'with a token endpoint inside a private network',
      { token_endpoint: 'http://10.0.0.1/' },
      /token_endpoint/,
    ],
    ['with credentials in an endpoint', { token_endpoint: 'https://a:b@x.example/' }, /token_endpoint/],
    ['with a script as page', { authorization_endpoint: 'javascript:alert(1)' }, /authorization_endpoint/],
  ])('%s', async (_what, change, text) => {
    const document = JSON.stringify({ ...good(), ...change }).replace('SELF', own.issuer);
    own.answers.set(path, (_request, response) => response.end(document));
    await expect(discover()).rejects.toMatchObject({
      name: 'IssuerFault',
      message: expect.stringMatching(text),
    });
  });

  test('that is no JSON, whatever it is', async () => {
    own.answers.set(path, (_request, response) => response.end('<html>private</html>'));
    await expect(discover()).rejects.toThrow(/no JSON$/);
  });

  test('that never ends', async () => {
    own.answers.set(path, (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) if (response.destroyed) return;
      };
      response.on('drain', more).on('error', () => undefined);
      more();
    });
    await expect(discover()).rejects.toThrow(/longer than 262144 bytes|too slow/);
  });

  test.each([
    ['begins', () => undefined],
    ['ends', (response: import('node:http').ServerResponse) => response.write('{')],
  ])('that never %s', async (_what, begin) => {
    own.answers.set(path, (_request, response) => void begin(response));
    await expect(opened(500).discover(own.issuer)).rejects.toThrow(/too slow|ABORT/);
  });

  test('that is somewhere else', async () => {
    own.answers.set(path, (_request, response) => {
      response.writeHead(302, { location: `${own.issuer}/elsewhere` }).end('{}');
    });
    await expect(discover()).rejects.toThrow('status 302');
    expect(asked('/elsewhere')).toBe(0);
  });
});

describe('where Portico runs on AWS', () => {
  const lookup = (address: string) =>
    openIssuerWeb({
      baseUrl: 'https://api.example.org',
      lookup: (_name, _options, done) => done(null, [{ address, family: address.includes(':') ? 6 : 4 }]),
    });

  test.each([
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['10.1.2.3'],
    ['::1'],
    ['fd00:ec2::254'],
    ['::ffff:10.0.0.1'],
  ])('a name that leads to %s is refused', async (address) => {
    await expect(lookup(address).get('https://issuer.example/')).rejects.toThrow('not a public address');
  });

  test.each([
    ['http://127.0.0.1/'],
    ['http://localhost/'],
    ['http://issuer.example/'],
    ['https://a:b@x.example/'],
  ])('%s is refused', async (url) => {
    await expect(lookup('93.184.216.34').get(url)).rejects.toThrow('not https');
  });

  test.each([['https://127.0.0.1/'], ['https://localhost/'], ['https://[::1]/'], ['https://2130706433/']])(
    '%s is no exception',
    async (url) => {
      await expect(lookup('127.0.0.1').get(url)).rejects.toThrow('not a public address');
    },
  );
});
