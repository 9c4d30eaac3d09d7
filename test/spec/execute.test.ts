import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Portico, startPortico } from './portico.ts';
import {
  botThat,
  change,
  createBot,
  createClient,
  createPolicy,
  deploy,
  execute,
  membershipOf,
  projectOf,
  recordsOf,
  type TestClient,
} from './running.ts';

const mebibyte = 1024 * 1024;
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const fhir = 'application/fhir+json';
const hl7 = 'x-application/hl7-v2+er7';
const message = 'MSH|^~\\&|A|B|C|D|20260101||ADT^A01|1|P|2.5\rPID|1||7||Doe^Jane';

let portico: Portico;
let member: TestClient;
/** Answers what it was given, type and own keys said. */
let mirror = '';
/** Runs its text input as the body of a function. */
let runner = '';
const identifier = { system: 'https://example.org/bots', value: 'Mirror 1' };

beforeAll(async () => {
  portico = await startPortico();
  mirror = await botThat(
    portico,
    `const { input } = event;
     const type = input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input;
     const bare = type === 'object' && Object.getPrototypeOf(input) === null;
     return { type, bare, input: type === 'object' && input.header ? input.toString() : input };`,
    { identifier: [identifier, { value: 'plain' }] },
  );
  runner = await botThat(
    portico,
    'return await new Function("event", "medplum", event.input)(event, medplum)',
  );
  member = await createClient(portico);
});
afterAll(() => portico.stop());

function expectOutcome(answer: Answer, status: number, code: string, text?: string | RegExp) {
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  expect(answer.json.resourceType).toBe('OperationOutcome');
  expect(answer.json.issue[0].code).toBe(code);
  if (text !== undefined) expect(answer.json.issue[0].details.text).toMatch(text);
}

async function inputOf(body: string | Uint8Array, contentType: string) {
  const answer = await execute(portico, mirror, body, contentType);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json;
}

describe('which Bot', () => {
  const byIdentifier = (query: string, token?: string) =>
    portico.api('POST', `fhir/R4/Bot/$execute${query}`, {
      ...(token ? { token } : {}),
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });

  test.each([
    ['percent-encoded', '?identifier=https%3A%2F%2Fexample.org%2Fbots%7CMirror%201'],
    ['with + as a space', '?identifier=https%3A%2F%2Fexample.org%2Fbots%7CMirror+1'],
    ['with a raw |', '?identifier=https://example.org/bots|Mirror%201'],
    ['without system', '?identifier=%7Cplain'],
    ['beside other parameters', '?_format=json&identifier=|plain'],
  ])('is found by an identifier %s', async (_name, query) => {
    const answer = await byIdentifier(query);
    expect([answer.status, answer.json]).toEqual([200, { type: 'string', bare: false, input: 'x' }]);
  });

  test.each([
    ['none', ''],
    ['an empty one', '?identifier='],
    ['one of another name', '?Identifier=|plain'],
    ['two', '?identifier=|plain&identifier=|plain'],
  ])('is not said by %s', async (_name, query) => {
    expectOutcome(await byIdentifier(query), 400, 'invalid', /^Must specify bot ID or identifier\.$/);
  });

  test.each([
    ['without |', '?identifier=plain'],
    ['without value', '?identifier=https://example.org/bots|'],
    ['of | alone', '?identifier=|'],
    ['encoded twice', '?identifier=%257Cplain'],
  ])('is refused with an identifier %s', async (_name, query) => {
    expectOutcome(await byIdentifier(query), 400, 'invalid');
  });

  test.each([
    ['nobody has', '?identifier=a|b'],
    ['of another case', '?identifier=|Plain'],
    ['with more behind', '?identifier=|plain|w'],
    ['with a space before', '?identifier=|+plain'],
    ['with another system', '?identifier=https://example.org/|plain'],
    [
      'with its system in front of the bar twice',
      '?identifier=https://example.org/bots|https://example.org/bots|Mirror+1',
    ],
    ['of 4 kB', `?identifier=${'s'.repeat(2000)}|${'v'.repeat(2000)}`],
    ['that no key can hold', '?identifier=%00%23|%F0%9F%92%A9'],
    ['of bytes that are no text', '?identifier=%FF|%C3'],
    ['of a prototype', '?identifier=__proto__|constructor'],
  ])('is not found by an identifier %s', async (_name, query) => {
    expectOutcome(await byIdentifier(query), 404, 'not-found');
  });

  test.each([
    'nobody',
    '__proto__',
    'constructor',
    '%2e%2e%2fBot',
    'a%20b',
    'a'.repeat(64),
    'a'.repeat(65),
    '%00',
    '%F0%9F%92%A9',
    '%23',
    '7%7C7',
  ])('is not found by the id %s', async (id) => {
    expectOutcome(await execute(portico, id, 'x'), 404, 'not-found');
  });

  test('is executed by id, its dollar sign encoded or not', async () => {
    const answer = await portico.api('POST', `fhir/R4/Bot/${mirror}/%24execute`);
    expect([answer.status, answer.json]).toEqual([200, { type: 'undefined', bare: false }]);
  });

  test('of another Project is not there', async () => {
    const other = await portico.token(projectOf(portico, 1));
    expectOutcome(await execute(portico, mirror, 'x', 'text/plain', { token: other }), 404, 'not-found');
    expectOutcome(await byIdentifier('?identifier=|plain', other), 404, 'not-found');
  });

  test('may have the identifier that a Bot of another Project has', async () => {
    const project = projectOf(portico, 1);
    await botThat(portico, 'return "the other"', { identifier: [{ value: 'plain' }] }, project);
    const theirs = await byIdentifier('?identifier=|plain', await portico.token(project));
    expect([theirs.status, theirs.text]).toEqual([200, 'the other']);
    expect((await byIdentifier('?identifier=|plain')).json.input).toBe('x');
  });

  test('needs a token', async () => {
    const answer = await execute(portico, mirror, 'x', 'text/plain', { token: null });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await byIdentifier('?identifier=|plain', 'a.b.c')).status).toBe(401);
  });
});

describe('another method', () => {
  test('is not allowed, by id or by identifier', async () => {
    for (const path of [`fhir/R4/Bot/${mirror}/$execute`, 'fhir/R4/Bot/$execute?identifier=|plain']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await portico.api(method, path);
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(answer.headers.get('allow')).toBe('POST');
      }
    }
  });
});

describe('the input', () => {
  test.each<[string, string, string, unknown]>([
    ['text', 'text/plain', 'a\r\n\tä€😀', { type: 'string', bare: false, input: 'a\r\n\tä€😀' }],
    ['a JSON object', json, '{"a":[1,null]}', { type: 'object', bare: false, input: { a: [1, null] } }],
    ['a JSON array', json, '[1]', { type: 'array', bare: false, input: [1] }],
    ['a JSON text', json, '"x"', { type: 'string', bare: false, input: 'x' }],
    ['a JSON number', json, '-0.5e1', { type: 'number', bare: false, input: -5 }],
    ['false', json, 'false', { type: 'boolean', bare: false, input: false }],
    ['null', json, 'null', { type: 'null', bare: false, input: null }],
    ['a form', form, 'a=1&b=x+y%26&a=2', { type: 'object', bare: true, input: { a: '2', b: 'x y&' } }],
    [
      'a FHIR object',
      fhir,
      '{"resourceType":"X"}',
      { type: 'object', bare: false, input: { resourceType: 'X' } },
    ],
    ['an object that is no resource', fhir, '{"a":1}', { type: 'object', bare: false, input: { a: 1 } }],
    ['an HL7 message', hl7, message, { type: 'object', bare: false, input: message }],
  ])('is %s', async (_name, type, body, expected) => {
    expect(await inputOf(body, type)).toEqual(expected);
  });

  test.each([
    'TEXT/Plain',
    'text/plain;charset=utf-8',
    'text/plain; charset="UTF-8"',
    'text/plain ; format=flowed; Charset=utf8',
    'text/plain; charset=us-ascii',
  ])('is text as %s', async (type) => {
    expect(await inputOf('hello', type)).toMatchObject({ type: 'string', input: 'hello' });
  });

  test.each<[string, string, unknown]>([
    ['text/plain', '', { type: 'string', bare: false, input: '' }],
    [json, '', { type: 'object', bare: false, input: {} }],
    [form, '', { type: 'object', bare: true, input: {} }],
    [fhir, '', { type: 'object', bare: false, input: {} }],
  ])('without a body, as %s, has a value of its own', async (type, body, expected) => {
    expect(await inputOf(body, type)).toEqual(expected);
  });

  test('without a body and a type is undefined', async () => {
    expect((await execute(portico, mirror)).json).toEqual({ type: 'undefined', bare: false });
  });

  test("without a body, as API Gateway's application/octet-stream, is undefined", async () => {
    const body = 'return [event.input, event.contentType].map(String)';
    const telling = await botThat(portico, body);
    for (const type of ['application/octet-stream', 'Application/Octet-Stream; a=b', null]) {
      const body = type === null ? undefined : '';
      expect((await execute(portico, telling, body, type)).json).toEqual(['undefined', 'undefined']);
    }
  });

  test('without a body as HL7 is refused', async () => {
    expectOutcome(await execute(portico, mirror, '', hl7), 400, 'invalid', /HL7/);
  });

  test.each([
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'text/html',
    'application/jsonp',
    'application/json+fhir',
    'text',
    '__proto__',
    'constructor',
    ';charset=utf-8',
  ])('of type %s is refused, naming the five', async (type) => {
    const answer = await execute(portico, mirror, 'x', type);
    expectOutcome(answer, 415, 'not-supported');
    for (const known of ['text/plain', json, form, fhir, hl7]) expect(answer.text).toContain(known);
  });

  test('with a body and no type is refused', async () => {
    expectOutcome(await execute(portico, mirror, new Uint8Array([120]), null), 415, 'not-supported');
  });

  test.each([
    ['text/plain', 'utf-16'],
    ['text/plain', 'iso-8859-1'],
    [json, 'latin1'],
    [json, 'utf-16le'],
    [hl7, 'windows-1252'],
    [fhir, 'utf-7'],
    [form, 'shift_jis'],
    ['text/plain', '__proto__'],
  ])('of type %s in %s is refused', async (type, charset) => {
    expectOutcome(await execute(portico, mirror, 'x', `${type}; charset=${charset}`), 415, 'not-supported');
  });

  test('may be in iso-8859-1 where bytes come through', async () => {
    const bytes = (text: string) => Buffer.from(text, 'latin1');
    expect((await inputOf(bytes('{"a":"ä"}'), `${fhir}; charset=ISO-8859-1`)).input).toEqual({ a: 'ä' });
    expect((await inputOf(bytes('a=ä&b=%E4'), `${form};charset=iso-8859-1`)).input).toEqual({
      a: 'ä',
      b: 'ä',
    });
    expect((await inputOf(bytes('MSH|^~\\&|ä'), `${hl7};charset=latin1`)).input).toBe('MSH|^~\\&|ä');
  });

  test('as HL7 without a charset follows MSH-18', async () => {
    const text = 'MSH|^~\\&|Ä||||||ADT^A01|1|P|2.5||||||8859/1';
    expect((await inputOf(Buffer.from(text, 'latin1'), hl7)).input).toBe(text);
    const utf8 = text.replace('8859/1', 'UNICODE UTF-8');
    expect((await inputOf(utf8, hl7)).input).toBe(utf8);
  });

  test.each<[string, Uint8Array, string]>([
    ['FHIR', Buffer.from('{"a":"\xff"}', 'latin1'), fhir],
    ['a form', Buffer.from('a=\xff', 'latin1'), form],
    ['HL7', Buffer.from('MSH|^~\\&|\xff', 'latin1'), hl7],
    ['a form with escapes', Buffer.from('a=%FF'), form],
    ['a form with half a character', Buffer.from('a=%C3x'), form],
    ['FHIR in us-ascii', Buffer.from('{"a":"ä"}'), `${fhir};charset=us-ascii`],
    ['HL7 in us-ascii', Buffer.from('MSH|^~\\&|ä'), `${hl7};charset=us-ascii`],
  ])('with bytes that are no text, as %s, is refused and never replaced', async (_name, bytes, type) => {
    expectOutcome(await execute(portico, mirror, bytes, type), 400, 'invalid');
  });

  test('loses its byte order mark', async () => {
    expect((await inputOf('\uFEFFx', 'text/plain')).input).toBe('x');
    expect((await inputOf('\uFEFF{"a":1}', json)).input).toEqual({ a: 1 });
    expect((await inputOf('\uFEFF{"a":1}', fhir)).input).toEqual({ a: 1 });
    expect((await inputOf('\uFEFFa=1', form)).input).toEqual({ a: '1' });
    expect((await inputOf(`\uFEFF${message}`, hl7)).input).toBe(message);
  });

  test.each<[string, string, string]>([
    ['JSON that ends early', json, '{"a":'],
    ['JSON with a trailing comma', json, '[1,]'],
    ['two JSON values', json, '1 2'],
    ['JSON with a comment', json, '{} // x'],
    ['white space as JSON', json, ' \n'],
    ['NaN', json, 'NaN'],
    ['JSON with a raw line end in a text', json, '"a\nb"'],
    ['JSON 100,000 deep', json, '['.repeat(100_000) + ']'.repeat(100_000)],
    ['JSON 100,000 deep that never closes', fhir, '{"a":'.repeat(100_000)],
    ['text as FHIR', fhir, 'hello'],
    ['an array as FHIR', fhir, '[]'],
    ['null as FHIR', fhir, 'null'],
    ['a text as FHIR', fhir, '"x"'],
    ['a bad escape in a form', form, 'a=%zz'],
    ['half an escape in a form', form, 'a=1&b=%2'],
    ['a form of 1,001 keys', form, Array.from({ length: 1001 }, (_, i) => `k${i}=`).join('&')],
    ['text as HL7', hl7, 'hello'],
    ['MSH alone as HL7', hl7, 'MSH'],
    ['HL7 that starts with another segment', hl7, 'PID|1\rMSH|^~\\&|'],
  ])('that is %s is refused', async (_name, type, body) => {
    expectOutcome(await execute(portico, mirror, body, type), 400, 'invalid');
  });

  test('that is JSON 129 deep is refused before the Bot sees it', async () => {
    const answer = await execute(portico, mirror, '['.repeat(129) + ']'.repeat(129), json);
    expectOutcome(answer, 400, 'invalid', /^JSON deeper than 128 levels$/);
  });

  test('keeps odd JSON exactly', async () => {
    const odd =
      '{"__proto__":{"polluted":true},"constructor":1,"a":1,"a":2,"":0,"big":9007199254740993,"s":"\\ud800"}';
    const bot = await botThat(
      portico,
      'const i = event.input; return [Object.keys(i), Object.hasOwn(i, "__proto__"), ({}).polluted, i.a, i.s.charCodeAt(0), JSON.stringify(i.__proto__)]',
    );
    for (const type of [json, fhir]) {
      expect((await execute(portico, bot, odd, type)).json).toEqual([
        ['__proto__', 'constructor', 'a', '', 'big', 's'],
        true,
        null,
        2,
        0xd800,
        '{"polluted":true}',
      ]);
    }
    expect((await execute(portico, bot, '__proto__=x&a[b]=c&s=%EF%BB%BFy', form)).json.slice(0, 2)).toEqual([
      ['__proto__', 'a[b]', 's'],
      true,
    ]);
  });

  test('may be JSON 128 deep, of many keys, a form of 1,000 keys', async () => {
    const deep = '['.repeat(126) + ']'.repeat(126);
    expect((await inputOf(deep, json)).type).toBe('array');
    const keys = await botThat(portico, 'return Object.keys(event.input).length');
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 0])));
    expect((await execute(portico, keys, many, json)).text).toBe('100000');
    const thousand = Array.from({ length: 1000 }, (_, i) => `k${i}=`).join('&');
    expect((await execute(portico, keys, `${thousand}&k1=again`, form)).text).toBe('1000');
  });

  test('may be 4 MiB, and not one byte more', async () => {
    const length = await botThat(portico, 'return event.input.length ?? event.input.data.length');
    const text = 'x'.repeat(4 * mebibyte);
    expect((await execute(portico, length, text)).text).toBe(String(4 * mebibyte));
    expectOutcome(await execute(portico, length, `${text}x`), 413, 'too-long');
    const data = `{"data":"${'y'.repeat(4 * mebibyte - 11)}"}`;
    expect((await execute(portico, length, data, fhir)).text).toBe(String(4 * mebibyte - 11));
    expectOutcome(await execute(portico, length, `${data} `, fhir), 413, 'too-long');
  });

  test('that is over 6 MB as an event is refused though it is under 4 MiB', async () => {
    const answer = await execute(portico, mirror, '"'.repeat(3.5 * mebibyte));
    expect(answer.status).toBe(413);
  });

  test('compressed is refused', async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'GZIP']) {
      const answer = await execute(portico, mirror, gzipSync('x'), 'text/plain', {
        headers: { 'content-encoding': encoding },
      });
      expectOutcome(answer, 415, 'not-supported');
    }
  });

  test('on behalf of somebody else is refused', async () => {
    const headers = { 'x-medplum-on-behalf-of': 'Practitioner/1' };
    expectOutcome(await execute(portico, mirror, 'x', 'text/plain', { headers }), 400, 'invalid');
  });
});

describe('the event', () => {
  test('says which Bot, who asked, the type and the trace', async () => {
    const bot = await botThat(
      portico,
      'const { bot, contentType, requester, secrets, traceId } = event; return { bot, contentType, requester, secrets, traceId }',
      { name: 'Teller' },
    );
    const traceId = '7b7f0a3c-58a1-4b5e-9d0e-0c9f8f1d2a3b';
    const answer = await execute(portico, bot, '{}', 'application/json; charset=utf-8', {
      token: member.token,
      headers: { 'x-trace-id': traceId },
    });
    expect(answer.json).toEqual({
      bot: { reference: `Bot/${bot}`, display: 'Teller' },
      contentType: 'application/json; charset=utf-8',
      requester: { reference: `ClientApplication/${member.id}`, display: 'Test client' },
      secrets: {},
      traceId,
    });
    expect(answer.headers.get('x-trace-id')).toBe(traceId);
  });

  test('holds no header that could be a credential', async () => {
    const bot = await botThat(portico, 'return event.headers');
    const headers = {
      cookie: 'a=secret-1',
      'proxy-authorization': 'Basic secret-2',
      'x-api-key': 'secret-3',
      'x-amz-security-token': 'secret-4',
      'x-auth-token': 'secret-5',
      'x-auth': 'secret-6',
      'x-access-key': 'secret-7',
      'x-jwt': 'secret-8',
      'client-assertion': 'secret-9',
      'x-clinic': 'kept',
    };
    const answer = await execute(portico, bot, 'x', 'text/plain', { headers });
    expect(answer.json).toMatchObject({ 'x-clinic': 'kept', 'content-type': 'text/plain' });
    expect(answer.text).not.toMatch(/secret-|Bearer|eyJ/);
  });
});

describe('the answer', () => {
  const run = (code: string, call: { token?: string } = {}) =>
    execute(portico, runner, code, 'text/plain', call);

  test('to undefined is All OK', async () => {
    const answer = await run('');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
    expect(answer.json).toMatchObject({
      resourceType: 'OperationOutcome',
      id: 'ok',
      issue: [{ severity: 'information', details: { text: 'All OK' } }],
    });
  });

  test.each<[string, string, string]>([
    ['an object', 'return { a: [1, "x", null, { b: true }] }', '{"a":[1,"x",null,{"b":true}]}'],
    ['an array', 'return [1, [2]]', '[1,[2]]'],
    ['true', 'return true', 'true'],
    ['false', 'return false', 'false'],
    ['zero', 'return 0', '0'],
    ['a number', 'return 1.5', '1.5'],
    ['null', 'return null', 'null'],
    ['an object with a resourceType that is no text', 'return { resourceType: 1 }', '{"resourceType":1}'],
    ['a date', 'return new Date(0)', '"1970-01-01T00:00:00.000Z"'],
  ])('to %s is JSON', async (_name, code, text) => {
    const answer = await run(code);
    expect([answer.status, answer.text]).toEqual([200, text]);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each([
    [
      'a resource',
      'return { resourceType: "Patient", active: true }',
      '{"resourceType":"Patient","active":true}',
    ],
    [
      'a returned OperationOutcome',
      'return { resourceType: "OperationOutcome", id: "not-found", issue: [] }',
      '{"resourceType":"OperationOutcome","id":"not-found","issue":[]}',
    ],
    ['a Binary without data', 'return { resourceType: "Binary" }', '{"resourceType":"Binary"}'],
  ])('to %s is FHIR', async (_name, code, text) => {
    const answer = await run(code);
    expect([answer.status, answer.text]).toEqual([200, text]);
    expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  });

  test('to a string is raw for text and HL7, JSON for the others', async () => {
    const bot = await botThat(portico, 'return "é\\r\\"1"');
    for (const [body, type, text, answered] of [
      ['x', 'text/plain; charset=us-ascii', 'é\r"1', 'text/plain; charset=utf-8'],
      [message, hl7, 'é\r"1', `${hl7}; charset=utf-8`],
      ['{}', json, '"é\\r\\"1"', 'application/json; charset=utf-8'],
      ['a=1', form, '"é\\r\\"1"', 'application/json; charset=utf-8'],
      ['{}', fhir, '"é\\r\\"1"', 'application/json; charset=utf-8'],
    ] as const) {
      const answer = await execute(portico, bot, body, type);
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, text, answered]);
    }
    expect((await execute(portico, bot)).text).toBe('"é\\r\\"1"');
    expect((await execute(portico, await botThat(portico, 'return ""'), 'x')).text).toBe('');
  });

  test('to an HL7 message is ER7 text', async () => {
    const bot = await botThat(portico, 'return event.input.buildAck({ ackCode: "AE" })');
    const answer = await execute(portico, bot, message, hl7);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${hl7}; charset=utf-8`]);
    expect(answer.text).toMatch(/^MSH\|\^~\\&\|C\|D\|A\|B\|.*\rMSA\|AE\|1/);
  });

  const data = Buffer.from('<script>1</script>').toString('base64');
  test.each<[string, string, boolean]>([
    ['text/html', 'text/html', true],
    ['image/svg+xml', 'image/svg+xml', true],
    ['image/png', 'image/png', false],
    ['image/jpeg', 'image/jpeg', false],
    ['image/gif', 'image/gif', false],
    ['application/pdf', 'application/pdf', false],
    ['text/plain; charset=utf-8', 'text/plain; charset=utf-8', false],
    ['text/plain, text/html', 'application/octet-stream', true],
    ['text/plain\\r\\nSet-Cookie: a=b', 'application/octet-stream', true],
    ['', 'application/octet-stream', true],
  ])('to a Binary of %j is its bytes, and never a page', async (contentType, answered, isAttachment) => {
    const answer = await run(
      `return { resourceType: "Binary", contentType: "${contentType}", data: "${data}" }`,
    );
    expect([answer.status, answer.text]).toEqual([200, '<script>1</script>']);
    expect(answer.headers.get('content-type')).toBe(answered);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(answer.headers.get('content-disposition')).toBe(isAttachment ? 'attachment' : null);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('to a Binary of no base64 is a 400', async () => {
    expectOutcome(await run('return { resourceType: "Binary", data: "<b>" }'), 400, 'invalid', /base64/);
  });

  test.each<[string, string, string]>([
    ['an Error', 'throw new Error("no bed")', 'no bed'],
    ['an error of another kind', 'throw new TypeError("odd")', 'odd'],
    ['a text', 'throw "text"', 'text'],
    ['null', 'throw null', 'null'],
    ['a rejection', 'return Promise.reject(new Error("late"))', 'late'],
  ])('to %s that was thrown is a 400 with its message', async (_name, code, text) => {
    const answer = await run(code);
    expectOutcome(answer, 400, 'exception', text);
    expect(answer.text).not.toMatch(/node_modules|\/shared\/|isolated-vm|file:/);
  });

  test.each<[string, number]>([
    ['{ id: "bad", issue: [{ severity: "error", code: "invalid" }] }', 400],
    ['{ id: "forbidden", issue: [] }', 403],
    ['{ id: "not-found", issue: [{ code: "not-found" }] }', 404],
    ['{ issue: [{ code: "not-found" }] }', 404],
    ['{ id: "conflict" }', 409],
    ['{ id: "gone" }', 410],
    ['{ id: "precondition-failed" }', 412],
    ['{ issue: [{ code: "multiple-matches" }] }', 412],
    ['{ id: "unprocessable-entity" }', 422],
    ['{ id: "unauthorized", issue: [{ code: "login" }] }', 400],
    ['{ id: "too-many-requests", issue: [{ code: "throttled" }] }', 400],
    ['{ id: "server-timeout", issue: [{ code: "timeout" }] }', 400],
    ['{ issue: [{ code: "exception" }] }', 400],
    ['{ id: "ok", issue: [{ code: "informational" }] }', 400],
    ['{ id: "accepted" }', 400],
    ['{ issue: "text" }', 400],
    ['{ issue: [null] }', 400],
    ['{ issue: null, id: { a: 1 } }', 400],
  ])('to a thrown OperationOutcomeError of %s has status %i', async (fields, status) => {
    const answer = await run(
      `const { OperationOutcomeError } = require("@medplum/core");
       throw new OperationOutcomeError({ resourceType: "OperationOutcome", ...${fields} })`,
    );
    expect([answer.status, answer.json.resourceType]).toEqual([status, 'OperationOutcome']);
    expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  });

  test.each<[string, string, RegExp]>([
    ['a cyclic object', 'const a = {}; a.a = a; return a', /cyclic/],
    ['a BigInt', 'return { a: 1n }', /BigInt/],
    ['a function', 'return () => 1', /function/],
  ])('to %s says that it cannot be an answer', async (_name, code, text) => {
    expectOutcome(await run(code), 400, 'invalid', text);
  });

  test('holds up to 4 MiB, also when every character of it is escaped on the way', async () => {
    const quotes = await run(`return '"'.repeat(${4 * mebibyte})`);
    expect([quotes.status, quotes.text.length]).toEqual([200, 4 * mebibyte]);
    const empties = await run(`return Array(${mebibyte}).fill("")`);
    expect([empties.status, empties.json.length]).toEqual([200, mebibyte]);
    const outcome = await run(
      `const { OperationOutcomeError } = require("@medplum/core");
       throw new OperationOutcomeError({ resourceType: "OperationOutcome", issue: Array(${mebibyte}).fill("") })`,
    );
    expect([outcome.status, outcome.json.resourceType]).toEqual([400, 'OperationOutcome']);
    expectOutcome(await run(`return 'x'.repeat(${4 * mebibyte + 1})`), 400, 'too-long', /4194304/);
  });

  test('to a Bot over its time says so', async () => {
    const bot = await botThat(portico, 'for (;;);');
    await change(portico, 'Bot', bot, { timeout: 0.5 });
    const beganAt = performance.now();
    expectOutcome(await execute(portico, bot), 400, 'timeout', /500 ms/);
    // Without a limit of its own it would have ten seconds.
    expect(performance.now() - beganAt).toBeLessThan(9000);
  });

  test('to a Bot over its memory says so', async () => {
    const answer = await run('const a = []; for (;;) a.push(new Array(1000).fill(1.5))');
    expectOutcome(answer, 400, 'too-costly', /memory/i);
  });

  test('shows the log of a failure to administrators, to others the trace id only', async () => {
    const code = 'console.log("first line\\nsecond %s", "x"); console.error({ a: 1 }); throw new Error("e")';
    const [issue] = (await run(code)).json.issue;
    expect(issue.diagnostics).toMatch(
      /^\S+Z INFO first line\\nsecond x\n\S+Z ERROR \{ a: 1 \}\n\S+Z ERROR Error: e\\nat .*$/,
    );
    const theirs = await run(code, { token: member.token });
    expect(theirs.json.issue[0].details.text).toBe('e');
    expect(theirs.json.issue[0].diagnostics).toBe(`Trace ${theirs.headers.get('x-trace-id')}`);
  });
});

describe('who may execute', () => {
  const client = async (resource: unknown) =>
    createClient(portico, { accessPolicy: await createPolicy(portico, resource) });
  const by = ({ token }: TestClient, botId = mirror) => execute(portico, botId, 'x', 'text/plain', { token });

  test('a client without a policy may', async () => {
    expect((await by(member)).status).toBe(200);
  });

  test('a client whose policy grants execute may', async () => {
    const one = await client([{ resourceType: 'Bot', interaction: ['execute'] }]);
    expect((await by(one)).status).toBe(200);
  });

  test('criteria say which Bots', async () => {
    const one = await client([
      { resourceType: 'Bot', interaction: ['execute'], criteria: `Bot?_id=${mirror}` },
    ]);
    expect((await by(one)).status).toBe(200);
    expectOutcome(await by(one, runner), 403, 'forbidden');
    const named = await client([
      {
        resourceType: 'Bot',
        interaction: ['execute'],
        criteria: 'Bot?identifier=https://example.org/bots|Mirror 1',
      },
    ]);
    expect((await by(named)).status).toBe(200);
    expectOutcome(await by(named, runner), 403, 'forbidden');
  });

  test.each<[string, unknown]>([
    ['nothing', []],
    ['nothing readable', 'all'],
    ['reading only', [{ resourceType: 'Bot', interaction: ['read', 'search'] }]],
    ['a read-only Bot', [{ resourceType: 'Bot', readonly: true }]],
    ['another type', [{ resourceType: 'Patient' }]],
    ['every type', [{ resourceType: '*' }]],
    ['a criterion with a hole', [{ resourceType: 'Bot', criteria: 'Bot?name=%nobody' }]],
    ['an empty criterion', [{ resourceType: 'Bot', criteria: 'Bot?name=' }]],
    ['a criterion that cannot be read', [{ resourceType: 'Bot', criteria: 'Bot?nonsense=1' }]],
    ['a criterion on another type', [{ resourceType: 'Bot', criteria: 'Patient?_id=1' }]],
  ])('a policy that grants %s does not grant execute', async (_name, resource) => {
    expectOutcome(await by(await client(resource)), 403, 'forbidden');
  });

  test('a changed policy counts at the next request', async () => {
    const accessPolicy = await createPolicy(portico, [{ resourceType: 'Bot', interaction: ['execute'] }]);
    const one = await createClient(portico, { accessPolicy });
    expect((await by(one)).status).toBe(200);
    await change(portico, 'AccessPolicy', accessPolicy.reference.slice(13), { resource: [] });
    expectOutcome(await by(one), 403, 'forbidden');
  });
});

describe('a Bot that cannot run', () => {
  test('has no deployed code', async () => {
    expectOutcome(
      await execute(portico, await createBot(portico)),
      400,
      'invalid',
      /^Bot has no deployed code$/,
    );
  });

  test('is in a Project whose features are others', async () => {
    const bot = await botThat(portico, 'return 1');
    const { id } = projectOf(portico, 0);
    await change(portico, 'Project', id, { features: ['email'] });
    expectOutcome(await execute(portico, bot), 400, 'invalid', /^Bots not enabled$/);
    await change(portico, 'Project', id, { features: ['email', 'bots'] });
    expect((await execute(portico, bot)).text).toBe('1');
  });

  test('has an inactive membership', async () => {
    const bot = await botThat(portico, 'return 1');
    expect((await execute(portico, bot)).text).toBe('1');
    const membershipId = await membershipOf(portico, bot);
    await change(portico, 'ProjectMembership', membershipId, { active: false });
    expectOutcome(await execute(portico, bot), 400, 'invalid', /^Bots not enabled$/);
    await change(portico, 'ProjectMembership', membershipId, { active: true });
    expect((await execute(portico, bot)).text).toBe('1');
  });
});

describe('the record of a run', () => {
  test('says who, which Bot and version, how it went, sizes and times, and nothing of the input', async () => {
    const bot = await botThat(
      portico,
      'if (event.input === "no-Zebra") throw new Error("e"); return "Zebra"',
    );
    const [good, bad] = ['Zebra-ä', 'no-Zebra'];
    const answer = await execute(portico, bot, good, 'text/plain', { token: member.token });
    await execute(portico, bot, bad);
    const records = await recordsOf(portico, bot);
    expect(records.map(({ outcome, outcomeDesc }) => [outcome, outcomeDesc])).toEqual([
      ['0', 'returned'],
      ['4', 'threw'],
    ]);
    expect(JSON.stringify(records)).not.toContain('Zebra');
    const [record] = records as unknown as [
      {
        action: string;
        agent: unknown;
        entity: { what: unknown; detail: { type: string; valueString: string }[] }[];
      },
    ];
    expect(record).toMatchObject({
      action: 'E',
      agent: [{ who: { reference: `ClientApplication/${member.id}` }, requestor: true }],
    });
    const [entity] = record.entity;
    expect(entity?.what).toEqual({ reference: `Bot/${bot}`, display: expect.stringMatching(/^Bot \d+$/) });
    const details = Object.fromEntries(
      (entity?.detail ?? []).map(({ type, valueString }) => [type, valueString]),
    );
    expect(details).toEqual({
      run: expect.stringMatching(/^[0-9a-f-]{36}$/),
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
      outcome: 'returned',
      durationMs: expect.stringMatching(/^\d+(\.\d+)?$/),
      inputType: 'text',
      inputBytes: '8',
      trace: answer.headers.get('x-trace-id'),
    });
  });

  test('is not written for what never ran', async () => {
    const bot = await botThat(portico, 'return 1');
    await execute(portico, bot, '{', json);
    await execute(portico, bot, 'x', 'text/html');
    await execute(portico, bot, 'x', 'text/plain', { token: await portico.token(projectOf(portico, 1)) });
    expect(await recordsOf(portico, bot)).toEqual([]);
  });
});

describe('an execute while its Bot is deployed', () => {
  test('runs one version or the other', async () => {
    const bot = await createBot(portico);
    const version = (n: number) => `const n = ${n}; export const handler = () => [n, ${n}];`;
    await deploy(portico, bot, version(0));
    const seen = new Set<string>();
    let isDeploying = true;
    const executing = Promise.all(
      [1, 2].map(async () => {
        while (isDeploying) {
          const { status, text } = await execute(portico, bot);
          seen.add(`${status} ${text}`);
        }
      }),
    );
    for (let n = 1; n <= 3; n++) await deploy(portico, bot, version(n));
    isDeploying = false;
    await executing;
    for (const one of seen) expect(one).toMatch(/^200 \[(\d),\1\]$/);
    expect((await execute(portico, bot)).text).toBe('[3,3]');
  });
});
