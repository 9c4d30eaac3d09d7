import { beforeAll, describe, expect, test } from '@jest/globals';
import { Hl7Message as MedplumMessage } from '@medplum/core';
import HL7 from 'hl7-standard';
import { charsetOf } from '../../shared/bots/hl7/charset.ts';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { standardParser } from '../../shared/bots/hl7/standard.ts';
import { decode } from '../../shared/bots/hl7/text.ts';
import { describeSamples, readSample } from '../setup/sample-messages.ts';
import { expectSameAsMedplum } from './medplum.ts';

describeSamples((files) => {
  describe.each([...files])('%s', (file) => {
    let bytes: Buffer;
    let text: string;
    const parse = () => Hl7Message.parse(text, { standard: standardParser(HL7) });
    beforeAll(() => {
      bytes = readSample(file);
      text = bytes.toString('utf8');
    });

    test('prints as it was read, segment for segment', () => {
      const lines = text
        .replace(/^\uFEFF/, '')
        .split(/\r\n|\r|\n/)
        .filter((line) => line.trim() !== '');
      expect(parse().toString().split('\r')).toEqual(lines);
    });

    test('gives its type and its patient', () => {
      const message = parse();
      expect(message.get('MSH.9.1')).toMatch(/^[A-Z]{3}$/);
      expect(charsetOf(bytes.toString('latin1'))).toBe('utf-8');
      if (message.getSegment('PID') !== undefined) {
        expect(message.get('PID.3.1')).toMatch(/\S/);
        expect(message.get('PID.5.1')).toMatch(/\S/);
      }
    });

    test('reads as with @medplum/core, which also reads its acknowledgement', () => {
      expectSameAsMedplum(text);
      const ack = MedplumMessage.parse(parse().buildAck({ ackCode: 'AE' }).toString());
      expect(ack.getAckType()).toBe('AE');
      expect(ack.getSegment('MSA')?.getComponent(2, 1)).toBe(parse().header.getComponent(10, 1));
    });

    test('reads as with hl7-standard', () => {
      const message = parse();
      const { standard } = message;
      expect(standard.getSegments()).toHaveLength(message.segments.length);
      const theirs: string[] = [];
      const ours: string[] = [];
      for (const name of new Set(message.segments.map((segment) => segment.name))) {
        for (const [position, segment] of message.getAllSegments(name).entries()) {
          for (let field = 3; field < segment.fields.length; field += 1) {
            theirs.push(decode(String(standard.get(`${name}.${field}.1`, position) ?? ''), message.context));
            ours.push(message.get(`${name}[${position + 1}].${field}.1.1`) ?? '');
          }
        }
      }
      expect(theirs).toEqual(ours);
    });
  });
});
