import { describe, expect, test } from '@jest/globals';
import { decode, encode, Hl7Context, transcode } from '../../shared/bots/hl7/text.ts';
import fc from '../setup/fast-check.ts';
import { contexts } from './arbitraries.ts';

const STANDARD = new Hl7Context();

describe('decoding', () => {
  test.each([
    ['plain text', 'plain text'],
    ['\\F\\\\S\\\\T\\\\R\\\\E\\', '|^&~\\'],
    ['a\\H\\bold\\N\\b', 'aboldb'],
    ['one\\.br\\two', 'one\ntwo'],
    ['\\X41\\\\X0D0A\\', 'A\r\n'],
    ['\\XC3A9\\', 'é'],
    ['\\XE9\\', 'é'],
    ['\\XF09F9982\\', '🙂'],
    ['\\.sp2\\\\.in+4\\\\.ce\\\\.sk 3\\', '\\.sp2\\\\.in+4\\\\.ce\\\\.sk 3\\'],
    ['\\C2842\\\\M2442\\\\Zown\\', '\\C2842\\\\M2442\\\\Zown\\'],
    ['\\.sp\\F\\.sp\\', '\\.sp\\F\\.sp\\'],
    ['C:\\Temp\\T\\x', 'C:\\Temp&x'],
    ['\\X4\\ \\XZZ\\ \\X\\', '\\X4\\ \\XZZ\\ \\X\\'],
    ['\\P\\', '\\P\\'],
    ['\\t\\', '\\t\\'],
    ['ends with \\', 'ends with \\'],
    ['\\', '\\'],
    ['\\\\', '\\\\'],
  ])('%j is %j', (written, text) => {
    expect(decode(written, STANDARD)).toBe(text);
  });
});

describe('encoding', () => {
  test.each([
    ['a|b^c~d\\e&f', 'a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f'],
    ['one\ntwo\r\n', 'one\\.br\\two\\X0D\\\\.br\\'],
    ['tab\tstays, \v\u001C\u0000 do not', 'tab\tstays, \\X0B\\\\X1C\\\\X00\\ do not'],
    ['äöü 🙂', 'äöü 🙂'],
  ])('%j is %j', (text, written) => {
    expect(encode(text, STANDARD)).toBe(written);
  });

  test('without an escape character nothing breaks the message', () => {
    expect(encode('a|b^c\rd', new Hl7Context('\r', '|', '^', '', '', ''))).toBe('a b c d');
  });

  test('says a line break in hexadecimal where the escape character is a dot', () => {
    const dotted = new Hl7Context('\r', '|', '^', '~', '.', '&');
    expect(encode('a\nb', dotted)).toBe('a.X0A.b');
    expect(decode('a.X0A.b', dotted)).toBe('a\nb');
  });

  test('is undone by decoding, whatever the text and the separators', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), contexts, (text, context) => {
        const written = encode(text, context);
        expect(decode(written, context)).toBe(text);
        expect(written).not.toMatch(/[\r\n]/);
      }),
    );
  });
});

describe('transcoding', () => {
  test('keeps the meaning and the formatting', () => {
    const from = new Hl7Context('\r', '#', '*', '+', '!', '%', '?');
    expect(transcode('|!F!!S!!T!!R!!E!!P! !.sp2! !X7C! !H!x!N! a!b \\', from, STANDARD)).toBe(
      '\\F\\#*%+!? \\.sp2\\ \\X7C\\ \\H\\x\\N\\ a!b \\E\\',
    );
  });

  test('gives the same text in any other separators', () => {
    fc.assert(
      fc.property(fc.string(), contexts, contexts, (text, from, to) => {
        expect(decode(transcode(encode(text, from), from, to), to)).toBe(text);
      }),
    );
  });
});
