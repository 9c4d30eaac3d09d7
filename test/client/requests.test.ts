import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { InferInput } from 'valibot';
import {
  clientCredentials,
  createPortico,
  type InviteRequest,
  type InviteRights,
  OAuthError,
  OperationOutcomeError,
  type Portico,
} from '../../client/src/index.ts';
import type { ProfileType } from '../../shared/base/resource.ts';
import type { inviteBody } from '../../shared/identity/invitations/parse-invite.ts';
import type { rightsEntries } from '../../shared/identity/invitations/parse-rights.ts';
import { type Loopback, startLoopback } from './loopback.ts';

/** What an invite may say is what the service reads of it, name by name: else this does not compile. */
type Same<One, Other> = [keyof One, keyof Other] extends [keyof Other, keyof One] ? true : never;
const _isWhole: [
  Same<InviteRequest, InferInput<typeof inviteBody>>,
  Same<InviteRights, typeof rightsEntries>,
  Same<Required<InviteRequest>['membership'], NonNullable<InferInput<typeof inviteBody>['membership']>>,
  Record<InviteRequest['resourceType'], true> extends Record<ProfileType, true> ? true : never,
] = [true, true, true, true];

const hl7 = 'x-application/hl7-v2+er7';
const form = 'application/x-www-form-urlencoded';
const person = { resourceType: 'Patient', firstName: 'A', lastName: 'B', email: 'a@example.org' } as const;
const outcome = {
  resourceType: 'OperationOutcome',
  issue: [
    { severity: 'error', code: 'invalid', details: { text: 'First' }, expression: ['email'] },
    { severity: 'error', code: 'invalid', details: { text: 'Second' } },
  ],
};

let server: Loopback;
let portico: Portico;
beforeAll(async () => {
  server = await startLoopback();
  portico = createPortico({ baseUrl: server.baseUrl, auth: 'a-token' });
});
afterAll(() => server.stop());
beforeEach(() => server.answer({ status: 200 }));

async function sent(input?: unknown, contentType?: string) {
  await portico.executeBot('b', input, contentType);
  const [request] = server.received;
  return [request?.headers['content-type'], request?.body.toString('latin1')];
}

describe('input', () => {
  test.each<[string, unknown, string | undefined, string | undefined, string]>([
    ['undefined', undefined, undefined, undefined, ''],
    ['0', 0, undefined, 'application/json', '0'],
    ['false', false, undefined, 'application/json', 'false'],
    ['null', null, undefined, 'application/json', 'null'],
    ['an empty string', '', undefined, 'text/plain', ''],
    ['an empty string as JSON', '', 'application/json', 'application/json', '""'],
    ['a string', 'hello', undefined, 'text/plain', 'hello'],
    ['JSON text', '{"a":1}', 'application/json', 'application/json', '{"a":1}'],
    ['an object', { a: 1 }, undefined, 'application/json', '{"a":1}'],
    ['an array', [1], undefined, 'application/json', '[1]'],
    [
      'a resource',
      { resourceType: 'Patient' },
      undefined,
      'application/fhir+json',
      '{"resourceType":"Patient"}',
    ],
    [
      'a resource as JSON',
      { resourceType: 'P' },
      'application/json',
      'application/json',
      '{"resourceType":"P"}',
    ],
    ['a form', new URLSearchParams({ a: 'b c', d: '&' }), undefined, form, 'a=b+c&d=%26'],
    ['a form with its type', new URLSearchParams({ a: '1' }), form, form, 'a=1'],
    ['a form string', 'a=1', form, form, 'a=1'],
    ['HL7', 'MSH|^~\\&', hl7, `${hl7}; charset=utf-8`, 'MSH|^~\\&'],
    ['bytes', new Uint8Array([0, 255]), hl7, hl7, '\0\xff'],
    ['a part of a buffer', new Uint8Array([1, 2, 3]).subarray(1, 2), 'text/plain', 'text/plain', '\x02'],
    ['a buffer', new Uint8Array([65]).buffer, 'text/plain', 'text/plain', 'A'],
    ['a Blob', new Blob(['x'], { type: 'text/plain' }), undefined, 'text/plain', 'x'],
    ['a Blob with another type', new Blob(['x'], { type: 'text/plain' }), hl7, hl7, 'x'],
  ])('%s', async (_name, input, contentType, expectedType, body) => {
    expect(await sent(input, contentType)).toEqual([expectedType, body]);
  });

  test.each<[string, unknown, string | undefined]>([
    ['bytes without a type', new Uint8Array(1), undefined],
    ['a Blob without a type', new Blob(['x']), undefined],
    ['an object as text', { a: 1 }, 'text/plain'],
    ['a string of another charset', 'é', 'text/plain; charset=iso-8859-1'],
    ['a Map', new Map([[1, 2]]), undefined],
    ['a forgotten await', Promise.resolve(1), undefined],
    ['FormData', new FormData(), undefined],
    ['a function', () => 1, undefined],
    ['a BigInt', 1n, undefined],
  ])('%s is refused before anything is sent', async (_name, input, contentType) => {
    await expect(portico.executeBot('b', input, contentType)).rejects.toMatchObject({ name: 'TypeError' });
    expect(server.received).toEqual([]);
  });
});

describe('address', () => {
  test.each([
    ['an id', 'b1', '/fhir/R4/Bot/b1/$execute'],
    ['an id with what means something in a URL', 'b1/../x?y#z', '/fhir/R4/Bot/b1%2F..%2Fx%3Fy%23z/$execute'],
    [
      'an identifier',
      { system: 'https://e.org/b', value: 'a b|c&d+' },
      '/fhir/R4/Bot/$execute?identifier=https%3A%2F%2Fe.org%2Fb%7Ca%20b%7Cc%26d%2B',
    ],
    ['one without system', { value: 'v' }, '/fhir/R4/Bot/$execute?identifier=%7Cv'],
    ['an undefined system', { system: undefined, value: 'v' }, '/fhir/R4/Bot/$execute?identifier=%7Cv'],
  ])('%s', async (_name, bot, url) => {
    await portico.executeBot(bot);
    expect(server.received.map((one) => [one.method, one.url])).toEqual([['POST', url]]);
    expect(server.received[0]?.headers.authorization).toBe('Bearer a-token');
  });

  test.each(['', '.', '..'])('the id %p is refused', async (id) => {
    await expect(portico.executeBot(id)).rejects.toThrow('Not an id');
    await expect(portico.invite(id, person)).rejects.toThrow('Not an id');
    await expect(portico.executeBot({ value: '' })).rejects.toThrow('An identifier needs a value');
    expect(server.received).toEqual([]);
  });

  test('the service may live below a path', async () => {
    await createPortico({ baseUrl: `${server.baseUrl}/below/`, auth: 't' }).invite('p/1', person);
    expect(server.received.map(({ url }) => url)).toEqual(['/below/admin/projects/p%2F1/invite']);
  });
});

describe('answer', () => {
  test.each<[string, string, unknown]>([
    ['application/json', '0', 0],
    ['application/json', '', undefined],
    ['application/fhir+json; charset=utf-8', '{"a":1}', { a: 1 }],
    ['text/plain; charset=utf-8', '', ''],
    ['text/plain', '42', '42'],
    [hl7, 'MSH|', 'MSH|'],
  ])('%s %p', async (contentType, body, value) => {
    server.answer({ status: 200, headers: { 'content-type': contentType }, body });
    expect(await portico.executeBot('b')).toEqual(value);
  });

  test('other types are a Blob', async () => {
    server.answer({ status: 200, headers: { 'content-type': 'image/png' }, body: Buffer.from([0, 255]) });
    const blob = await portico.executeBot<Blob>('b');
    expect([blob.type, [...new Uint8Array(await blob.arrayBuffer())]]).toEqual(['image/png', [0, 255]]);
  });
});

describe('nothing is repeated', () => {
  const calls: [string, () => Promise<unknown>][] = [
    ['executeBot', () => portico.executeBot('b', 'x')],
    ['invite', () => portico.invite('p', person)],
  ];
  for (const [name, call] of calls) {
    test.each([400, 401, 408, 409, 425, 429, 500, 502, 503, 504])(`${name} on %p`, async (status) => {
      server.answer({ status, headers: { 'retry-after': '7' }, body: JSON.stringify(outcome) });
      const error = await call().catch((one: unknown) => one);
      expect(error).toBeInstanceOf(OperationOutcomeError);
      expect(error).toMatchObject({ status, outcome, message: 'First; Second', retryAfterSeconds: 7 });
      expect(server.received).toHaveLength(1);
    });

    test(`${name} when the connection is cut`, async () => {
      server.answer('cut');
      await expect(call()).rejects.toMatchObject({ name: 'TypeError' });
      expect(server.received).toHaveLength(1);
    });

    test.each([302, 307, 308])(`${name} on a redirect, %p`, async (status) => {
      server.answer({ status, headers: { location: '/elsewhere' } });
      await expect(call()).rejects.toMatchObject({ name: 'TypeError' });
      expect(server.received).toHaveLength(1);
    });
  }

  test("a proxy's page is an outcome with its text", async () => {
    server.answer({ status: 502, body: '<h1>Bad gateway</h1>' });
    await expect(portico.executeBot('b')).rejects.toMatchObject({
      status: 502,
      message: 'HTTP 502 Bad Gateway',
      outcome: { issue: [{ diagnostics: '<h1>Bad gateway</h1>' }] },
    });
  });

  test('a call can be ended', async () => {
    await expect(
      portico.executeBot('b', 1, undefined, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.received).toEqual([]);
  });
});

describe('client credentials', () => {
  let issued: number;
  let lifetimeSeconds: number;
  let executeStatus: number;
  const tokenRequests = () => server.received.filter(({ url }) => url === '/oauth2/token');
  const signedIn = () =>
    createPortico({
      baseUrl: server.baseUrl,
      auth: clientCredentials({ baseUrl: server.baseUrl, clientId: 'c', clientSecret: 's&', scope: 'a b' }),
    });
  beforeEach(() => {
    issued = 0;
    lifetimeSeconds = 3600;
    executeStatus = 200;
    server.answer(({ url }) => {
      if (url !== '/oauth2/token') return { status: executeStatus };
      issued += 1;
      return {
        status: 200,
        body: JSON.stringify({ access_token: `t${issued}`, expires_in: lifetimeSeconds }),
      };
    });
  });

  test('parallel calls share one token', async () => {
    const client = signedIn();
    await Promise.all([client.executeBot('a'), client.executeBot('b'), client.invite('p', person)]);
    await client.executeBot('c');
    expect(tokenRequests().map(({ body }) => String(body))).toEqual([
      'grant_type=client_credentials&client_id=c&client_secret=s%26&scope=a+b',
    ]);
    expect(server.received).toHaveLength(5);
    expect(new Set(server.received.slice(1).map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer t1']),
    );
  });

  test('a token near its end is replaced, in one flight', async () => {
    lifetimeSeconds = 0;
    const client = signedIn();
    await client.executeBot('a');
    await Promise.all([client.executeBot('b'), client.executeBot('c')]);
    expect(issued).toBe(2);
  });

  test('a refused token is not used again, and the refused call not repeated', async () => {
    const client = signedIn();
    executeStatus = 401;
    await expect(client.executeBot('a')).rejects.toMatchObject({ status: 401 });
    expect(server.received).toHaveLength(2);
    executeStatus = 200;
    await client.executeBot('a');
    expect(server.received.at(-1)?.headers.authorization).toBe('Bearer t2');
  });

  test('a refused sign-in is an OAuthError, and the next call tries anew', async () => {
    const refusal = { error: 'invalid_client', error_description: 'Invalid client id or secret' };
    server.answer({ status: 400, body: JSON.stringify(refusal) });
    const client = signedIn();
    const error = await client.executeBot('a').catch((one: unknown) => one);
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ status: 400, code: 'invalid_client', message: refusal.error_description });
    server.answer({ status: 503, body: 'busy' });
    await expect(client.executeBot('a')).rejects.toMatchObject({ status: 503, code: 'server_error' });
    expect(server.received).toHaveLength(1);
  });
});
