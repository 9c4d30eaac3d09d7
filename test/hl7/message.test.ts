import { describe, expect, test } from '@jest/globals';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { Hl7Error } from '../../shared/bots/hl7/text.ts';
import { ADMISSION, OWN_SEPARATORS } from './samples.ts';

describe('what surrounds a message', () => {
  const lines = ['MSH|^~\\&|A|B', 'PID|1', 'ZAB|x |'];

  test.each([
    ['CR', lines.join('\r')],
    ['LF', lines.join('\n')],
    ['CRLF', lines.join('\r\n')],
    ['mixed line ends', `${lines[0]}\r${lines[1]}\n${lines[2]}\r\n`],
    ['blank lines', `\r\n${lines.join('\n\n')}\n\n  \r\n`],
    ['a byte order mark', `\uFEFF${lines.join('\r')}`],
    ['MLLP framing', `\v${lines.join('\r')}\r\u001C\r`],
    ['MLLP framing and a byte order mark', `\v\uFEFF${lines.join('\n')}\n\u001C\r`],
  ])('%s is accepted and left out', (_, text) => {
    expect(Hl7Message.parse(text).toString()).toBe(lines.join('\r'));
  });

  test.each([
    ['an empty text', ''],
    ['blank lines only', '\r\n\r\n'],
    ['a byte order mark only', '\uFEFF'],
    ['MSH alone', 'MSH'],
    ['MSH without encoding characters', 'MSH|'],
    ['MSH with an empty MSH-2', 'MSH||A|B'],
    ['a word that begins so', 'MSHanything else'],
    ['a repeated separator', 'MSH|^^\\&|A'],
    ['the field separator in MSH-2 of another kind', 'MSH|ab|'],
    ['six encoding characters', 'MSH|^~\\&#%|A'],
    ['lower case', 'msh|^~\\&|A'],
    ['another segment first', 'PID|1\rMSH|^~\\&|A'],
    ['JSON', '{"resourceType":"Patient"}'],
    ['a batch without a message', 'BHS|^~\\&|A\rBTS|0'],
    ['a batch of something else', 'BHS|^~\\&|A\rPID|1\rBTS|1'],
    ['a batch of two', 'FHS|^~\\&|A\rBHS|^~\\&|A\rMSH|^~\\&|A\rMSH|^~\\&|A\rBTS|2\rFTS|1'],
    ['an escape character three times', 'MSH|^~\\\\\\&|A'],
    ['two messages', 'MSH|^~\\&|A\rPID|1\rMSH|^~\\&|B'],
    ['two framed messages', '\vMSH|^~\\&|A\r\u001C\r\vMSH|^~\\&|B\r\u001C\r'],
    ['a batch trailer', 'MSH|^~\\&|A\rBTS|1'],
  ])('%s is refused', (_, text) => {
    expect(() => Hl7Message.parse(text)).toThrow(Hl7Error);
  });

  test('says what is wrong', () => {
    expect(() => Hl7Message.parse('hello')).toThrow('Not an HL7 v2 message: it must start with MSH');
    expect(() => Hl7Message.parse('FHS|^~\\&|')).toThrow('The batch (FHS, BHS) holds no message');
    const batch = 'BHS|^~\\&|A\rMSH|^~\\&|A\rPID|1\rMSH|^~\\&|B\rMSH|^~\\&|C\rBTS|3';
    expect(() => Hl7Message.parse(batch)).toThrow('holds 3 messages: send them one by one');
  });

  test.each([
    ['a batch', 'BHS|^~\\&|A\rMSH|^~\\&|A\rPID|1\rBTS|1'],
    ['a file', 'FHS|^~\\&|A\r\nBHS|^~\\&|A\r\nMSH|^~\\&|A\r\nPID|1\r\nBTS|1\r\nFTS|1\r\n'],
    ['a file without trailers', '\v\nFHS|^~\\&|A\nMSH|^~\\&|A\nPID|1\n\u001c\r'],
  ])('%s of one message is that message', (_, text) => {
    expect(Hl7Message.parse(text).toString()).toBe('MSH|^~\\&|A\rPID|1');
  });

  test('MSH as the only segment is a message', () => {
    const message = Hl7Message.parse('MSH|^~\\&');
    expect(message.segments).toHaveLength(1);
    expect(message.get('MSH.3')).toBeUndefined();
  });
});

describe('reading by path', () => {
  const message = Hl7Message.parse(ADMISSION);

  test.each([
    ['MSH.1', '|'],
    ['MSH.2', '^~\\&'],
    ['MSH.1.1', '|'],
    ['MSH.2.1', '^~\\&'],
    ['MSH.2.2', undefined],
    ['MSH.3.1', 'WARD'],
    ['MSH.3', 'WARD^1.2.3^ISO'],
    ['MSH.9.1', 'ADT'],
    ['MSH-9-2', 'A01'],
    ['MSH.10', 'C-1001'],
    ['PID.3', '4711^^^EAST&1.2.3.4&ISO^MR'],
    ['PID.3[2].1', 'X-9'],
    ['PID.3[3].1', undefined],
    ['PID.3.4', 'EAST&1.2.3.4&ISO'],
    ['PID.3.4.2', '1.2.3.4'],
    ['PID-3[1]-4-3', 'ISO'],
    ['PID.3.1.1', '4711'],
    ['PID.3.1.2', undefined],
    ['PID.4', undefined],
    ['PID.5.1', 'O&Neill'],
    ['PID.5', 'O\\T\\Neill^Mia^""'],
    ['PID.5.3', '""'],
    ['PID.8.1', 'F'],
    ['PID.8.2', undefined],
    ['PID.99', undefined],
    ['NTE.3', 'First line\nsecond | third'],
    ['OBX.5', '61'],
    ['OBX[2].5', 'C:\\Temp\\file é'],
    ['OBX[3].5', '36.8'],
    ['OBX[3].5[2]', '36.9'],
    ['OBX[4].5', undefined],
    ['ZZZ.1', undefined],
  ])('%s is %j', (path, value) => {
    expect(message.get(path)).toBe(value);
  });

  test.each([
    ['OBX.5', ['61', 'C:\\Temp\\file é', '36.8', '36.9']],
    ['OBX.5[1]', ['61', 'C:\\Temp\\file é', '36.8']],
    ['OBX.5[2]', ['36.9']],
    ['OBX[3].5', ['36.8', '36.9']],
    ['OBX[9].5', []],
    ['PID.3.1', ['4711', 'X-9']],
    ['PID.3.4.3', ['ISO']],
    ['MSH.2', ['^~\\&']],
    ['ZZZ.1', []],
  ])('all of %s are %j', (path, values) => {
    expect(message.getAll(path)).toEqual(values);
  });

  test('a path without a field is the segment', () => {
    expect(message.get('OBX[2]')?.toString()).toContain('OBX|2|');
    expect(message.get(1)?.toString()).toContain('EVN|');
    expect(message.get('ZZZ')).toBeUndefined();
    expect(message.getAll('OBX')).toHaveLength(3);
    expect(message.getAll('OBX[2]')).toHaveLength(1);
  });

  test.each([
    '',
    'PID.',
    'PID.0',
    'PID[0].1',
    'PID.3[0]',
    'PID.x',
    'PID.1.2.3.4',
    'P.1',
    'PID.3.1[2]',
    '.',
    'PID..1',
  ])('the path %j is refused', (path) => {
    expect(() => message.get(path)).toThrow(Hl7Error);
    expect(() => message.getAll(path)).toThrow(Hl7Error);
    expect(() => message.set(path, 'x')).toThrow(Hl7Error);
  });
});

describe('separators of its own', () => {
  const message = Hl7Message.parse(OWN_SEPARATORS);

  test.each([
    ['MSH.1', '#'],
    ['MSH.2', '*+!%'],
    ['MSH.9.2', 'R01'],
    ['PID.3.4.2', '1.2.3.4'],
    ['PID.3[2].1', 'X-9'],
    ['PID.5.1', 'O%Neill'],
    ['NTE.3', 'a|b^c~d\\e&f # * + ! A \n end'],
  ])('%s is %j', (path, value) => {
    expect(message.get(path)).toBe(value);
  });

  test('the truncation character of v2.7 is the fifth', () => {
    const truncating = Hl7Message.parse('MSH|^~\\&#|A\rNTE|1||x\\P\\y#');
    expect(truncating.get('MSH.2')).toBe('^~\\&#');
    expect(truncating.context.truncationCharacter).toBe('#');
    expect(truncating.get('NTE.3')).toBe('x#y#');
  });

  test('an escape character that is doubled in MSH-2 is so in values too', () => {
    const text = 'MSH|^~\\\\&|A|B|C|D|||ADT^A01|7|P|2.6\rPID|1||a\\\\T\\\\b^x&y||c\\T\\d';
    const message = Hl7Message.parse(text);
    expect(message.toString()).toBe(text);
    expect(message.get('PID.3.1')).toBe('a&b');
    expect(message.get('PID.3.2.2')).toBe('y');
    expect(message.get('PID.5')).toBe('c&d');
    expect(message.context.truncationCharacter).toBe('');
    expect(message.buildAck().toString()).toMatch(/^MSH\|\^~\\&\|C\|D\|A\|B\|/);
    message.set('PID.5', 'e|f');
    expect(message.get('PID.5')).toBe('e|f');
  });

  test('a separator that MSH-2 leaves out separates nothing', () => {
    const plain = Hl7Message.parse('MSH|^|A\rNTE|1||a~b\\F\\c&d^e');
    expect(plain.get('NTE.3.1')).toBe('a~b\\F\\c&d');
    expect(plain.get('NTE.3[2]')).toBeUndefined();
    expect(plain.set('NTE.3.1.2', 'x')).toBe(false);
    expect(plain.set('NTE.3[2]', 'x')).toBe(false);
  });
});

describe('writing', () => {
  test.each([
    ['PID.5.1', "O'Neill^|~\\&\r", "PID|1||7||O'Neill\\S\\\\F\\\\R\\\\E\\\\T\\\\X0D\\^Mia"],
    ['PID.5', 'Mia', 'PID|1||7||Mia'],
    ['PID.5.2', '', 'PID|1||7||Old^'],
    ['PID.3[3].4.2', 'x', 'PID|1||7~~^^^&x||Old^Mia'],
    ['PID.8', 'F', 'PID|1||7||Old^Mia|||F'],
  ])('%s = %j', (path, value, expected) => {
    const message = Hl7Message.parse('MSH|^~\\&|A\rPID|1||7||Old^Mia\rOBX|1');
    expect(message.set(path, value)).toBe(true);
    expect(message.toString()).toBe(`MSH|^~\\&|A\r${expected}\rOBX|1`);
    expect(message.get(path)).toBe(value === '' ? undefined : value);
  });

  test('what cannot be written answers false and changes nothing', () => {
    const message = Hl7Message.parse(ADMISSION);
    for (const path of ['MSH.1', 'MSH.2', 'ZZZ.1', 'OBX[9].5', 'PID']) {
      expect(message.set(path, 'x')).toBe(false);
    }
    expect(message.toString()).toBe(ADMISSION);
  });

  test('opening every segment and field changes no character', () => {
    const message = Hl7Message.parse(ADMISSION);
    expect(message.segments.flatMap((segment) => segment.fields).length).toBeGreaterThan(40);
    expect(message.toString()).toBe(ADMISSION);
    expect(JSON.stringify({ message })).toBe(JSON.stringify({ message: ADMISSION }));
  });
});
