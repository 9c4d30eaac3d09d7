import { describe, expect, test } from '@jest/globals';
import HL7 from 'hl7-standard';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { normalise, standardParser } from '../../shared/bots/hl7/standard.ts';
import { Hl7Error } from '../../shared/bots/hl7/text.ts';
import { ADMISSION, OWN_SEPARATORS } from './samples.ts';

const standard = standardParser(HL7);
const parse = (text: string) => Hl7Message.parse(text, { standard });

describe('the text for hl7-standard', () => {
  test.each([
    ['usual text stays', ADMISSION, `${ADMISSION}\r`],
    ['frame and line ends', '\v\uFEFFMSH|^~\\&|A\r\nPID|1\nEVN|\r\u001C\r', 'MSH|^~\\&|A\rPID|1\rEVN|\r'],
    ['a single segment gets an end of line', 'MSH|^~\\&|A', 'MSH|^~\\&|A\r'],
    ['a segment without fields gets one', 'MSH|^~\\&\rZAB', 'MSH|^~\\&\rZAB|\r'],
    ['names in upper case', 'MSH|^~\\&\rzab|x', 'MSH|^~\\&\rZAB|x\r'],
    ['subcomponents alone', 'MSH|^~\\&\rZAB|x&y|a&b^c|d&e~f', 'MSH|^~\\&\rZAB|x&y^|a&b^c|d&e~f\r'],
    ['the truncation character', 'MSH|^~\\&#|A\rZAB|x#', 'MSH|^~\\&|A\rZAB|x#\r'],
    [
      'own separators',
      OWN_SEPARATORS,
      [
        'MSH|^~\\&|WARD^1.2.3^ISO|EAST|LAB|WEST|20240301081500||ORU^R01^ORU_R01|C-1002|P|2.5.1',
        'PID|1||4711^^^EAST&1.2.3.4&ISO^MR~X-9||O%Neill^Mia',
        'NTE|1||a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f # * + ! \\X41\\ \\.br\\ end',
        '',
      ].join('\r'),
    ],
  ])('%s', (_, text, expected) => {
    expect(normalise(text)).toBe(expected);
  });

  test('a line that is no segment is refused, not dropped', () => {
    expect(() => normalise('MSH|^~\\&|A\rOBX|1||text\nthat goes on')).toThrow(Hl7Error);
  });
});

describe('the standard view', () => {
  test('reads fields, components, repetitions and subcomponents', () => {
    for (const text of [ADMISSION, OWN_SEPARATORS, `\v${ADMISSION.replaceAll('\r', '\r\n')}\u001C\r`]) {
      const view = parse(text).standard;
      expect(view.get('MSH.9.2')).toBe(parse(text).get('MSH.9.2'));
      expect(view.get('PID.3.1', 0, 1)).toBe('X-9');
      expect(view.get('PID.3.4', 0, 0, 1)).toBe('1.2.3.4');
      expect(view.get('PID.5.2')).toBe('Mia');
    }
    expect(parse(ADMISSION).standard.getSegments('OBX')).toHaveLength(3);
  });

  test('is made once, on first use', () => {
    let calls = 0;
    const message = Hl7Message.parse(ADMISSION, {
      standard: (text) => {
        calls += 1;
        return standard(text);
      },
    });
    expect(calls).toBe(0);
    expect(message.standard).toBe(message.standard);
    expect(calls).toBe(1);
  });

  test('builds what means the same', () => {
    for (const text of [ADMISSION, OWN_SEPARATORS, 'MSH|^~\\&|A\rZAB|x&y']) {
      const built = Hl7Message.parse(parse(text).standard.build());
      for (const path of [
        'MSH.9',
        'PID.3',
        'PID.3[2].1',
        'PID.5.1',
        'NTE.3',
        'ZAB.1.1',
        'ZAB.1.1.2',
        'OBX[3].5[2]',
      ]) {
        expect(built.get(path)).toEqual(Hl7Message.parse(normalise(text)).get(path));
      }
      expect(built.toString()).not.toContain('\n');
    }
  });

  test('of an acknowledgement works too, and without the library it says so', () => {
    expect(parse(ADMISSION).buildAck().standard.get('MSA.1')).toBe('AA');
    expect(() => Hl7Message.parse(ADMISSION).standard).toThrow('without hl7-standard');
  });
});
