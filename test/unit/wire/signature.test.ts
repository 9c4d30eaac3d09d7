import { describe, expect, test } from '@jest/globals';
import { createSigner, type SignableRequest } from '../../../shared/aws/wire/transport.ts';

/** Of AWS's published test suite for Signature Version 4: all of it that needs no other header than ours. */
const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const sessionToken =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';
const atMs = Date.UTC(2015, 7, 30, 12, 36);
const form = 'application/x-www-form-urlencoded';

interface Vector extends Partial<SignableRequest> {
  more?: Record<string, string>;
  token?: string;
  signed: string;
  signature: string;
}

const vectors: Record<string, Vector> = {
  'get-vanilla': {
    signed: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  'post-vanilla': {
    method: 'POST',
    signed: 'host;x-amz-date',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  'get-vanilla-query-order-key-case': {
    query: { Param2: 'value2', Param1: 'value1' },
    signed: 'host;x-amz-date',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  'get-utf8': {
    path: '/ሴ',
    signed: 'host;x-amz-date',
    signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  },
  'post-x-www-form-urlencoded': {
    method: 'POST',
    more: { 'content-type': form },
    body: 'Param1=value1',
    signed: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  'post-sts-header-before': {
    method: 'POST',
    token: sessionToken,
    signed: 'host;x-amz-date;x-amz-security-token',
    signature: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
};

const sign = createSigner('service', 'us-east-1');

function requestOf({ more = {}, ...change }: Partial<Vector>): SignableRequest {
  return {
    method: 'GET',
    path: '/',
    headers: { host: 'example.amazonaws.com', ...more },
    body: '',
    ...change,
  };
}

describe('the signatures of the published test suite', () => {
  test.each(Object.entries(vectors))('%s', (_, { token, signed, signature, ...request }) => {
    const who = token === undefined ? credentials : { ...credentials, sessionToken: token };
    expect(sign(requestOf(request), who, atMs)).toEqual({
      'x-amz-date': '20150830T123600Z',
      ...(token === undefined ? {} : { 'x-amz-security-token': token }),
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
    });
  });
});

describe('the key', () => {
  const of = (who: typeof credentials, ms: number) => sign(requestOf({}), who, ms).authorization;
  const day = 86_400_000;

  test('is another one for another day or secret, and the first one again after them', () => {
    const first = of(credentials, atMs);
    expect(of(credentials, atMs + day)).not.toBe(first);
    expect(of({ ...credentials, secretAccessKey: 'other' }, atMs)).not.toBe(first);
    expect(of(credentials, atMs)).toBe(first);
  });
});

test('headers that change on the way are not signed', () => {
  const more = { 'user-agent': 'x', 'content-length': '0', connection: 'close' };
  expect(sign(requestOf({ more }), credentials, atMs)).toEqual(sign(requestOf({}), credentials, atMs));
});

test('a path is escaped once more, as every service but S3 wants it', () => {
  const arn = '/functions/arn%3Aaws%3Alambda/invocations';
  expect(sign(requestOf({ path: arn }), credentials, atMs)).not.toEqual(
    sign(requestOf({ path: decodeURIComponent(arn) }), credentials, atMs),
  );
});
