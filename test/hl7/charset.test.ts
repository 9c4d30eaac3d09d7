import { describe, expect, test } from '@jest/globals';
import { charsetNamed, charsetOf, codecOf } from '../../shared/bots/hl7/charset.ts';
import { Hl7Error } from '../../shared/bots/hl7/text.ts';

const naming = (charset: string) => `MSH|^~\\&|A|B|C|D||||||||||||${charset}`;

describe('the character set of MSH-18', () => {
  test.each([
    ['', 'utf-8'],
    ['UNICODE UTF-8', 'utf-8'],
    ['utf-8', 'utf-8'],
    ['UNICODE', 'utf-8'],
    ['ASCII', 'us-ascii'],
    ['ISO IR6', 'us-ascii'],
    ['8859/1', 'iso-8859-1'],
    ['ISO-8859-1', 'iso-8859-1'],
    ['8859/1~ISO IR87', 'iso-8859-1'],
    ['~ISO IR87', 'utf-8'],
    ['8859/2', 'iso-8859-2'],
    ['8859/15', 'iso-8859-15'],
    ['iso_8859-16', 'iso-8859-16'],
    ['WINDOWS-1252', 'windows-1252'],
    ['cp1251', 'windows-1251'],
    ['8859/12', undefined],
    ['8859/17', undefined],
    ['UNICODE UTF-16', undefined],
    ['ISO IR87', undefined],
    ['__proto__', undefined],
  ])('%j is %s', (named, charset) => {
    expect(charsetOf(naming(named))).toBe(charset);
    expect(charsetOf(`\v\n${naming(named)}|x\r\nPID|1\rNTE|1||x`)).toBe(charset);
    expect(charsetOf(`FHS|^~\\&|A\r\nBHS|^~\\&|A\r\n${naming(named)}\rBTS|1`)).toBe(charset);
  });

  test('is read from bytes taken as ISO 8859-1, and a byte order mark decides', () => {
    const bytes = Buffer.from(`\uFEFF${naming('8859/1')}\rPID|1||Ä`, 'utf8');
    expect(charsetOf(bytes.toString('latin1'))).toBe('utf-8');
  });

  test('needs a message', () => {
    expect(() => charsetOf('{}')).toThrow(Hl7Error);
    expect(() => charsetOf(Buffer.from(naming(''), 'utf16le').toString('latin1'))).toThrow(Hl7Error);
    expect(() => charsetOf('')).toThrow(Hl7Error);
  });
});

describe('a codec', () => {
  test.each(['8859/1', '8859/2', '8859/9', '8859/15', 'ISO 8859-1', 'iso_8859-15', 'CP1252', 'WINDOWS-1252'])(
    'of %s reads and writes every byte without loss',
    (name) => {
      const all = Buffer.from(Array.from({ length: 20_000 }, (_, byte) => byte % 256));
      const codec = codecOf(charsetNamed(name) ?? '');
      expect(codec?.encode(codec.decode(all))).toEqual(all);
    },
  );

  test.each([
    ['8859/15', '€', [0xa4]],
    ['8859/2', 'ł', [0xb3]],
    ['8859/1', '€x', [0x3f, 0x78]],
    ['CP1252', '€', [0x80]],
    ['UNICODE UTF-8', 'ł', [0xc5, 0x82]],
    ['', '€', [0xe2, 0x82, 0xac]],
  ])('of %j writes %s as %j', (name, text, bytes) => {
    expect([...(codecOf(charsetNamed(name) ?? '')?.encode(text) ?? [])]).toEqual(bytes);
  });

  test.each(['UNICODE UTF-16', 'BIG-5', '8859/12', 'ISO IR87', 'x'])('of %s is not there', (name) => {
    expect(codecOf(charsetNamed(name) ?? '')).toBeUndefined();
  });

  test('of 4 MiB is quick', () => {
    const began = process.cpuUsage();
    const bytes = Buffer.alloc(4 * 1024 * 1024, 0xe4);
    expect(codecOf('iso-8859-15')?.decode(bytes)).toHaveLength(bytes.length);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000);
  });
});
