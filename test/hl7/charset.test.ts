import { describe, expect, test } from '@jest/globals';
import { charsetOf } from '../../shared/hl7/charset.ts';
import { Hl7Error } from '../../shared/hl7/hl7-error.ts';

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
    ['8859/15', 'unsupported'],
    ['UNICODE UTF-16', 'unsupported'],
    ['ISO IR87', 'unsupported'],
    ['__proto__', 'unsupported'],
  ])('%j is %s', (named, charset) => {
    expect(charsetOf(naming(named))).toBe(charset);
    expect(charsetOf(`\v\n${naming(named)}|x\r\nPID|1\rNTE|1||x`)).toBe(charset);
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
