import { describe, expect, test } from '@jest/globals';
import { isDeeperThan } from '../../shared/base/json.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import { parseBotIdentifier } from '../../shared/bots/bot/identifiers.ts';
import { executeRequest } from '../../shared/bots/run/execute-http.ts';
import { charsetFor, decodeBytes, parseForm, parseInput } from '../../shared/bots/run/input.ts';
import { safeHeaders } from '../../shared/bots/run/run-request.ts';
import { parseMediaType, readRequest } from '../../shared/carry/http/request.ts';
import fc from '../setup/fast-check.ts';

const kindOf = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
};

describe('a media type', () => {
  test.each<[string | undefined, string | undefined, string | undefined]>([
    [undefined, undefined, undefined],
    ['', undefined, undefined],
    [' ', undefined, undefined],
    ['Text/PLAIN', 'text/plain', undefined],
    ['text/plain;charset=UTF-8', 'text/plain', 'UTF-8'],
    ['text/plain ; a=b ; CHARSET = "latin1" ', 'text/plain', 'latin1'],
    ['text/plain;charset=a;charset=b', 'text/plain', 'a'],
    ['text/plain;', 'text/plain', undefined],
    ['text/plain;xcharset=a', 'text/plain', undefined],
    ['text/plain;charset=', 'text/plain', ''],
  ])('%j is read', (header, type, charset) => {
    expect(parseMediaType(header)).toEqual(type === undefined ? undefined : { type, charset });
  });
});

describe('a charset', () => {
  const of = (type: string, charset?: string, bytes = '') =>
    charsetFor({ type, charset }, Buffer.from(bytes, 'latin1'));
  const hl7 = 'x-application/hl7-v2+er7';

  test.each<[string, string | undefined, string]>([
    ['text/plain', undefined, 'utf-8'],
    ['application/json', 'UTF8', 'utf-8'],
    ['application/fhir+json', 'US-ASCII', 'us-ascii'],
    ['application/fhir+json', 'ISO_8859-1', 'iso-8859-1'],
    ['application/x-www-form-urlencoded', 'Latin1', 'iso-8859-1'],
    [hl7, 'iso-8859-1', 'iso-8859-1'],
  ])('%s; charset=%s is %s', (type, charset, expected) => {
    expect(of(type, charset)).toBe(expected);
  });

  test('of HL7 is what the parameter says, else MSH-18', () => {
    const message = 'MSH|^~\\&|A||||||ADT|1|P|2.5||||||8859/1';
    expect(of(hl7, undefined, message)).toBe('iso-8859-1');
    expect(of(hl7, 'utf-8', message)).toBe('utf-8');
    expect(of(hl7, undefined, message.replace('8859/1', 'WINDOWS-1252'))).toBe('windows-1252');
  });

  test('that MSH-18 names and we do not know is no matter when all bytes are ASCII', () => {
    const message = 'MSH|^~\\&|A||||||ADT|1|P|2.5||||||ISO IR87';
    expect(of(hl7, undefined, message)).toBe('us-ascii');
    expect(kindOf(() => of(hl7, undefined, `${message}\rPID|1||\xe4`))).toBe('unsupported-media-type');
  });

  test.each([
    ['text/plain', 'iso-8859-1'],
    ['application/json', 'latin1'],
    ['text/plain', ''],
    ['text/plain', 'utf-16'],
    [hl7, 'utf-16'],
  ])('%s; charset=%s is refused', (type, charset) => {
    expect(kindOf(() => of(type, charset))).toBe('unsupported-media-type');
  });

  test('bytes come back as the text they were made of, or are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (some) => {
        const bytes = Buffer.from(some);
        expect(Buffer.from(decodeBytes(bytes, 'iso-8859-1'), 'latin1')).toEqual(bytes);
        const isUtf8 = Buffer.from(bytes.toString('utf8')).equals(bytes);
        expect(kindOf(() => decodeBytes(bytes, 'utf-8'))).toBe(isUtf8 ? 'none' : 'invalid');
        if (isUtf8) expect(Buffer.from(decodeBytes(bytes, 'utf-8'))).toEqual(bytes);
        const isAscii = bytes.every((byte) => byte < 128);
        expect(kindOf(() => decodeBytes(bytes, 'us-ascii'))).toBe(isAscii ? 'none' : 'invalid');
      }),
    );
  });
});

describe('a form', () => {
  const parse = (text: string) => parseForm(text, (bytes) => decodeBytes(bytes, 'utf-8'));

  test('is read as URLSearchParams reads it, whatever it was printed from', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 8 });
    const odd = fc.constantFrom(
      '__proto__',
      'constructor',
      '',
      '\uFEFFmark',
      'a b',
      '+',
      '%',
      '&=',
      '\u0000',
    );
    const pair = fc.tuple(fc.oneof(texts, odd), fc.oneof(texts, odd));
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 12 }), (pairs) => {
        const printed = new URLSearchParams(pairs).toString();
        const form = parse(printed);
        expect(Object.getPrototypeOf(form)).toBeNull();
        expect(new Map(Object.entries(form))).toEqual(new Map(new URLSearchParams(printed)));
      }),
    );
  });

  test('is read as URLSearchParams reads it, separators wherever they are', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '=',
      '&',
      '+',
      '%41',
      '%2B',
      '%26',
      '%3D',
      '%C3%A9',
      'é',
      '[]',
      '',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
        const text = pieces.join('');
        // URLSearchParams takes a leading `?` away; a form has none.
        expect(new Map(Object.entries(parse(text)))).toEqual(new Map(new URLSearchParams(text)));
      }),
    );
  });

  test.each(['a=%', 'a=%4', '%zz=1', 'a=%FF', 'a=%C3x', 'a=%C3&b=%A9'])('%s is refused', (text) => {
    expect(kindOf(() => parse(text))).toBe('invalid');
  });

  test('holds 1,000 keys, and not one more', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=${i}`).join('&');
    expect(Object.keys(parse(`${keys(1000)}&k0=again`))).toHaveLength(1000);
    expect(kindOf(() => parse(keys(1001)))).toBe('invalid');
  });

  test('of a million pairs of one key is read at once', () => {
    const began = process.cpuUsage();
    expect({ ...parse('a=1&'.repeat(1_000_000)) }).toEqual({ a: '1' });
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
  });
});

describe('the depth of JSON', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  test('is what nesting says, whatever stands in its texts', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('[[[', '}}"{', '\\', '\\"[', '"'));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, text, tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    }));
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 8 }), (one, limit) => {
        expect(isDeeperThan(JSON.stringify(one), limit)).toBe(depthOf(one) > limit);
      }),
    );
  });

  test('of any text is told without a fault', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(typeof isDeeperThan(text, 3)).toBe('boolean')));
  });

  test('of 4 MiB of brackets, quotes and backslashes is told at once', () => {
    const began = process.cpuUsage();
    for (const piece of ['[', '[]', '"', '\\', '"\\', '"\\"', '"\\\\']) {
      isDeeperThan(piece.repeat((4 * 1024 * 1024) / piece.length), 10_000_000);
      isDeeperThan(`"${piece.repeat((4 * 1024 * 1024) / piece.length)}`, 10_000_000);
    }
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
  });
});

describe('an identifier', () => {
  const parse = (query: string) => parseBotIdentifier(new URLSearchParams(query));

  test('is split at the first bar, whatever it holds', () => {
    const part = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(part, part, (system, value) => {
        const isOne = !system.includes('|') && value !== '';
        const query = new URLSearchParams({ identifier: `${system}|${value}` }).toString();
        if (isOne) expect(parse(query)).toEqual({ system, value });
      }),
    );
    expect(parse('identifier=s|v|w')).toEqual({ system: 's', value: 'v|w' });
    expect(parse('identifier=%7Cv')).toEqual({ system: '', value: 'v' });
    expect(parse('identifier=a+b|c%2Bd')).toEqual({ system: 'a b', value: 'c+d' });
  });

  test.each([
    '',
    'identifier',
    'identifier=',
    'identifier=|v&identifier=|v',
    'identifier=v',
    'identifier=s|',
    'id=|v',
  ])('%j is refused', (query) => {
    expect(kindOf(() => parse(query))).toBe('invalid');
  });
});

describe('headers', () => {
  test('lose whatever could be a credential', () => {
    const kept = {
      accept: '*/*',
      'x-clinic': '1',
      'content-type': 'text/plain',
      traceparent: '00-1',
      'idempotency-key': 'a',
    };
    const lost = {
      authorization: 'Bearer a',
      'proxy-authorization': 'a',
      cookie: 'a',
      'set-cookie': 'a',
      'x-api-key': 'a',
      apikey: 'a',
      'x-amz-security-token': 'a',
      'x-auth-token': 'a',
      'x-hub-signature-256': 'a',
      'client-secret': 'a',
      'x-session-id': 'a',
      'x-password': 'a',
      'x-functions-key': 'a',
      'x-amz-credential': 'a',
      'client-assertion': 'a',
    };
    expect(safeHeaders({ ...kept, ...lost, absent: undefined })).toEqual(kept);
  });
});

describe('the input', () => {
  test('of any bytes as any type is taken or refused, never a fault', () => {
    const types = [
      'text/plain',
      'application/json',
      'application/x-www-form-urlencoded',
      'application/fhir+json',
    ];
    const type = fc.constantFrom(...types, 'x-application/hl7-v2+er7', 'text/html', '', 'constructor');
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('{"a":1}', 'MSH|^~\\&|', 'a=%41', '[1]', 'MSH|', 'MSH||||'),
    );
    const bytes = fc.oneof(
      fc.uint8Array().map((some) => Buffer.from(some)),
      text.map((some) => Buffer.from(some)),
    );
    fc.assert(
      fc.property(type, bytes, (header, body) => {
        expect(['none', 'invalid', 'unsupported-media-type']).toContain(
          kindOf(() => parseInput(header, body)),
        );
      }),
    );
  });
});

test.each<[string | undefined, string | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['x', 'application/octet-stream'],
])('a body of %j under the type that API Gateway gives one without is of type %s', (body, expected) => {
  const event = {
    requestContext: { http: { method: 'POST', sourceIp: '192.0.2.1' } },
    headers: { 'content-type': 'application/octet-stream' },
    body,
  };
  expect(executeRequest(readRequest(event as never, 't', 0)).contentType).toBe(expected);
});
