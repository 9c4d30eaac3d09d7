import { describe, expect, test } from '@jest/globals';
import { allRoutes } from '../../functions/routes.ts';
import { buildEvent, decodedPath, type ReceivedRequest } from '../../infra/local/gateway/http-api.ts';
import { matchRoute } from '../../shared/carry/http/routes.ts';
import fc from '../setup/fast-check.ts';

const table = [...allRoutes];
const stamp = {
  requestId: 'JKJaXmPLvHcESHA=',
  traceId: 'Root=1-0-0',
  atMs: Date.UTC(2026, 2, 5, 19, 3, 58, 7),
};

function eventOf(request: Partial<ReceivedRequest> = {}) {
  const full: ReceivedRequest = {
    method: 'POST',
    target: '/fhir/R4/Bot/1/$execute',
    httpVersion: '1.1',
    rawHeaders: ['Host', '127.0.0.1:8787'],
    sourceIp: '127.0.0.1',
    port: 8787,
    ...request,
  };
  const path = decodedPath(full.target) ?? '';
  const matched = matchRoute(table, full.method, path);
  if (!matched) throw new Error('no route');
  return buildEvent(full, path, matched, stamp);
}

describe('the event of payload format 2.0', () => {
  test('says what was asked, when and by whom', () => {
    const event = eventOf({ rawHeaders: ['Host', 'localhost:8787', 'User-Agent', 'curl/8'] });
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'POST /fhir/R4/Bot/{id}/$execute',
      rawPath: '/fhir/R4/Bot/1/$execute',
      rawQueryString: '',
      pathParameters: { id: '1' },
      isBase64Encoded: false,
    });
    expect(event.requestContext).toEqual({
      accountId: '000000000000',
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: {
        method: 'POST',
        path: '/fhir/R4/Bot/1/$execute',
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: 'curl/8',
      },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: 'POST /fhir/R4/Bot/{id}/$execute',
      stage: '$default',
      time: '05/Mar/2026:19:03:58 +0000',
      timeEpoch: stamp.atMs,
    });
    for (const absent of ['body', 'cookies', 'queryStringParameters', 'stageVariables']) {
      expect(Object.keys(event)).not.toContain(absent);
    }
  });

  test('decodes the path and its parameters, `%24execute` too', () => {
    expect(eventOf({ target: '/fhir/R4/Bot/a%7Cb%2Bc+d/%24execute' })).toMatchObject({
      rawPath: '/fhir/R4/Bot/a|b+c+d/$execute',
      pathParameters: { id: 'a|b+c+d' },
    });
  });

  test('lets an encoded slash separate', () => {
    expect(eventOf({ target: '/fhir/R4/Bot/a%2Fb/$execute' }).routeKey).toBe('$default');
  });

  test.each(['%', '%zz', '%ff', '%c3%28', '%ED%A0%80'])('does not decode %s', (bad) => {
    expect(decodedPath(`/fhir/R4/Patient/${bad}`)).toBeUndefined();
  });

  test('leaves the raw query string as it was sent and joins repeated keys with commas', () => {
    const event = eventOf({
      target: '/fhir/R4/Bot/$execute?identifier=s|v%7C&a=1&a=%2B+2&b&a?=3?&__proto__=x',
    });
    expect(event.rawQueryString).toBe('identifier=s|v%7C&a=1&a=%2B+2&b&a?=3?&__proto__=x');
    const expected = [
      ['identifier', 's|v|'],
      ['a', '1,+ 2'],
      ['b', ''],
      ['a?', '3?'],
      ['__proto__', 'x'],
    ];
    expect(Object.entries(event.queryStringParameters ?? {})).toEqual(expected);
  });

  test('lower-cases header names, joins repeated ones with commas, splits cookies out', () => {
    const event = eventOf({
      rawHeaders: [
        'HOST',
        'localhost:1',
        'X-A',
        '1',
        'x-a',
        '2',
        'Cookie',
        'a=1; b=2',
        'cookie',
        'c=3',
        'Connection',
        'close',
      ],
    });
    expect(event.cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(event.headers).toEqual({
      host: 'localhost:1',
      'x-a': '1,2',
      'content-length': '0',
      'x-amzn-trace-id': 'Root=1-0-0',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-port': '8787',
      'x-forwarded-proto': 'http',
    });
  });

  test('adds the caller to x-forwarded-for and believes no other forwarded header', () => {
    const rawHeaders = [
      'X-Forwarded-For',
      '9.9.9.9',
      'X-Forwarded-Proto',
      'https',
      'X-Amzn-Trace-Id',
      'mine',
    ];
    expect(eventOf({ rawHeaders }).headers).toMatchObject({
      'x-forwarded-for': '9.9.9.9,127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-amzn-trace-id': 'Root=1-0-0',
    });
  });
});

describe('the body', () => {
  const withBody = (contentType: string | undefined, body: Buffer) =>
    eventOf({ rawHeaders: contentType === undefined ? [] : ['Content-Type', contentType], body });

  test.each([
    'text/plain',
    'TEXT/Plain; charset=utf-8',
    'text/csv',
    'application/json',
    'application/json;x=y',
    'application/xml',
    'application/javascript',
  ])('%s stays text', (contentType) => {
    expect(withBody(contentType, Buffer.from('{"ü":1}'))).toMatchObject({
      body: '{"ü":1}',
      isBase64Encoded: false,
    });
  });

  test.each([
    'application/fhir+json',
    'x-application/hl7-v2+er7',
    'application/x-www-form-urlencoded',
    'application/json-patch+json',
    'application/octet-stream',
    'multipart/form-data',
    'garbage',
    undefined,
  ])('%s becomes base64', (contentType) => {
    const event = withBody(contentType, Buffer.from('MSH|^~\\&|ü'));
    expect(event).toMatchObject({
      body: Buffer.from('MSH|^~\\&|ü').toString('base64'),
      isBase64Encoded: true,
    });
  });

  test('bytes of text that are not UTF-8 are lost, as they are on AWS', () => {
    expect(withBody('text/plain; charset=iso-8859-1', Buffer.from([0x66, 0xfc])).body).toBe('f\ufffd');
  });

  test('any bytes of a base64 type arrive unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const event = withBody('application/fhir+json', Buffer.from(bytes));
        expect(Buffer.from(event.body ?? '', 'base64')).toEqual(Buffer.from(bytes));
      }),
    );
  });
});

test('a path segment of any text arrives as it was meant', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
      fc.pre(id.isWellFormed() && !id.includes('/'));
      const event = eventOf({ target: `/fhir/R4/Bot/${encodeURIComponent(id)}/$execute` });
      expect(event.pathParameters).toEqual({ id });
    }),
  );
});
