import { describe, expect, test } from '@jest/globals';
import { Hl7Message as MedplumMessage } from '@medplum/core';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { Hl7Segment } from '../../shared/bots/hl7/segment.ts';
import { ADMISSION, OWN_SEPARATORS } from './samples.ts';

const fixed = { now: new Date('2024-03-01T07:15:00.250Z'), controlId: 'A-1' };

/** A message of this version, sent with this message type. */
const sent = (version: string, type = 'ADT^A01') =>
  Hl7Message.parse(`MSH|^~\\&|A|B|C|D|2024||${type}|C-1|D|${version}\rPID|1`);

describe('an acknowledgement', () => {
  test('answers the sender with what the message said', () => {
    expect(Hl7Message.parse(ADMISSION).buildAck(fixed).toString()).toBe(
      [
        'MSH|^~\\&|LAB|WEST|WARD^1.2.3^ISO|EAST|20240301071500+0000||ACK^A01^ACK|A-1|T|2.5.1||||||UNICODE UTF-8',
        'MSA|AA|C-1001|OK',
      ].join('\r'),
    );
  });

  test('uses the separators of the message', () => {
    const ack = Hl7Message.parse(OWN_SEPARATORS).buildAck({ ...fixed, ackCode: 'AR', text: 'not #1, 100%' });
    expect(ack.toString()).toBe(
      [
        'MSH#*+!%#LAB#WEST#WARD*1.2.3*ISO#EAST#20240301071500+0000##ACK*R01*ACK#A-1#P#2.5.1',
        'MSA#AR#C-1002#not !F!1, 100!T!',
        'ERR###207*Application internal error*HL70357#E####not !F!1, 100!T!',
      ].join('\r'),
    );
  });

  test.each([
    ['2.1', 'ADT', 'ACK'],
    ['2.3', 'ADT^A01', 'ACK^A01'],
    ['2.3.1', 'ADT^A01', 'ACK^A01^ACK'],
    ['2.8', 'ADT^A01^ADT_A01', 'ACK^A01^ACK'],
    ['', 'ADT^A01', 'ACK^A01^ACK'],
  ])('in version %j to %s is %s', (version, type, expected) => {
    expect(sent(version, type).buildAck().get('MSH.9')).toBe(expected);
  });

  test('has a version and a processing id where the message has none', () => {
    const ack = Hl7Message.parse('MSH|^~\\&').buildAck(fixed);
    expect(ack.toString()).toBe('MSH|^~\\&|||||20240301071500+0000||ACK|A-1|P|2.5.1\rMSA|AA||OK');
  });

  test('gets a new control id of at most 20 characters each time', () => {
    const message = sent('2.5');
    const ids = new Set(Array.from({ length: 100 }, () => message.buildAck().get('MSH.10')));
    expect(ids.size).toBe(100);
    expect([...ids].every((id) => id !== undefined && id.length <= 20)).toBe(true);
  });

  test.each(['AA', 'AE', 'AR', 'CA', 'CE', 'CR'] as const)('%s is read by @medplum/core', (ackCode) => {
    const ack = Hl7Message.parse(ADMISSION).buildAck({ ackCode });
    const read = MedplumMessage.parse(ack.toString());
    expect(read.getAckType()).toBe(ackCode);
    expect(ack.getAckType()).toBe(ackCode);
    expect(read.getSegment('MSA')?.getComponent(2, 1)).toBe('C-1001');
    expect(read.getSegment('ERR') === undefined).toBe(ackCode.endsWith('A'));
  });

  test('of a message that is none of its own kind has no type', () => {
    expect(Hl7Message.parse(ADMISSION).getAckType()).toBeUndefined();
    expect(Hl7Message.parse('MSH|^~\\&\rMSA|XX|1').getAckType()).toBeUndefined();
  });
});

describe('the ERR segment', () => {
  test.each([
    ['2.5', {}, 'ERR|||207^Application internal error^HL70357|E||||no'],
    [
      '2.8',
      { errorCode: '101', errorLocation: 'PID.3[2].1' },
      'ERR||PID^1^3^2^1|101^Required field missing^HL70357|E||||no',
    ],
    ['2.5', { errorCode: 'own&1', errorLocation: 'OBX[7]' }, 'ERR||OBX^7|own\\T\\1|E||||no'],
    ['2.4', { errorCode: '101', errorLocation: 'PID.3' }, 'ERR|PID^1^3^101&Required field missing&HL70357'],
    ['2.3', {}, 'ERR|^^^207&Application internal error&HL70357'],
    ['2.3', { errorCode: 'X1' }, 'ERR|^^^X1'],
    ['2.5', { errSegment: 'ERR|own' }, 'ERR|own'],
    ['2.5', { errSegment: new Hl7Segment(['ERR', 'own']) }, 'ERR|own'],
  ])('in version %s with %j is %s', (version, options, expected) => {
    const ack = sent(version).buildAck({ ackCode: 'AE', text: 'no', ...options });
    expect(ack.getSegment('ERR')?.toString()).toBe(expected);
  });
});
