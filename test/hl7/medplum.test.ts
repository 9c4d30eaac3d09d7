import { describe, expect, test } from '@jest/globals';
import * as medplum from '@medplum/core';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { Hl7Field, Hl7Segment } from '../../shared/bots/hl7/segment.ts';
import { Hl7Context } from '../../shared/bots/hl7/text.ts';
import { expectSameAsMedplum } from './medplum.ts';
import { ADMISSION, OWN_SEPARATORS } from './samples.ts';

const portico = { Hl7Context, Hl7Field, Hl7Message, Hl7Segment };
/** The part of both libraries that Bots use, seen as ours. */
const libraries = [
  ['portico', portico],
  ['@medplum/core', medplum as unknown as typeof portico],
] as const;

describe('accessors of @medplum/core', () => {
  test.each([
    ['usual separators', ADMISSION],
    ['own separators', OWN_SEPARATORS],
    ['line feeds', `${ADMISSION.replaceAll('\r', '\n')}\n`],
  ])('give the same with %s', (_, text) => {
    expectSameAsMedplum(text);
  });

  test('where theirs fails, ours is empty', () => {
    const segment = Hl7Message.parse(ADMISSION).getSegment('PID');
    expect(segment?.getComponent(3, 1, undefined, 9)).toBe('');
    expect(segment?.getField(99)).toBeUndefined();
    expect(segment?.getComponent(99, 1)).toBe('');
    expect(() => new Hl7Message([]).header).toThrow('no segments');
  });
});

describe.each(libraries)('changing and building with the classes of %s', (_, library) => {
  const parsed = () => library.Hl7Message.parse(ADMISSION);

  test('a built message', () => {
    const message = new library.Hl7Message([
      new library.Hl7Segment(['MSH', '^~\\&', 'A', 'B']),
      new library.Hl7Segment(['PID', new library.Hl7Field([['1', '2'], ['3']])]),
      library.Hl7Segment.parse('ZAB|x^y'),
    ]);
    expect(message.toString()).toBe('MSH|^~\\&|A|B\rPID|1^2~3\rZAB|x^y');
    expect(message.header.getField(1)?.toString()).toBe('|');
    expect(message.header.getField(2)?.toString()).toBe('^~\\&');
    expect(message.header.getComponent(3, 1)).toBe('A');
    expect(message.context.getMsh2()).toBe('^~\\&');
  });

  test('an own context', () => {
    const context = new library.Hl7Context('\r', '#', '*', '+', '!', '%');
    const segment = library.Hl7Segment.parse('PID#1*2%3+4', context);
    expect(segment.getComponent(1, 2, 1)).toBe('3');
    expect(segment.getComponent(1, 1, undefined, 1)).toBe('4');
    expect(library.Hl7Field.parse('a*b', context).get(1)).toBe('b');
    expect(segment.get(1)?.toString()).toBe('1*2%3+4');
  });

  test('setField and setComponent', () => {
    const message = parsed();
    const pid = message.getSegment('PID');
    expect(pid?.setField(10, 'x^y')).toBe(true);
    expect(pid?.setField(8, new library.Hl7Field([['M']]))).toBe(true);
    expect(pid?.setComponent(5, 2, 'Zoe')).toBe(true);
    expect(pid?.setComponent(3, 4, 'NORTH', 0, 1)).toBe(true);
    expect(pid?.setComponent(3, 1, 'new', undefined, 2)).toBe(true);
    expect(pid?.setComponent(40, 1, 'x')).toBe(false);
    expect(pid?.getField(3)?.setComponent(0, 'x')).toBe(false);
    expect(message.header.setField(1, 'x')).toBe(false);
    expect(message.header.setField(2, 'x')).toBe(false);
    expect(message.header.setField(3, 'OTHER')).toBe(true);
    expect(pid?.toString()).toBe(
      'PID|1||4711^^^EAST&1.2.3.4&ISO^MR~X-9^^^NORTH^SS~new||O\\T\\Neill^Zoe^""||19800229|M||x^y',
    );
    expect(message.toString().split('\r')[0]).toContain('MSH|^~\\&|OTHER|EAST|');
    expect(message.toString().split('\r')[2]).toBe(pid?.toString());
  });

  test('setSegment', () => {
    const message = parsed();
    const zab = new library.Hl7Segment(['ZAB', '1']);
    const header = library.Hl7Segment.parse('MSH|^~\\&|NEW');
    expect(message.setSegment('NTE', zab)).toBe(true);
    expect(message.getSegment('NTE')).toBeUndefined();
    expect(message.getSegment('ZAB')).toBe(zab);
    expect(message.setSegment(99, zab)).toBe(true);
    expect(message.setSegment('ZZZ', zab)).toBe(false);
    expect(message.setSegment(0, zab)).toBe(false);
    expect(message.setSegment('MSH', zab)).toBe(false);
    expect(message.setSegment(1, header)).toBe(false);
    expect(message.setSegment('PID', header)).toBe(false);
    expect(message.setSegment('MSH', header)).toBe(true);
    expect(message.segments.map((segment) => segment.name).join()).toBe('MSH,EVN,PID,ZAB,OBX,OBX,OBX,ZAB');
    expect(message.getAllSegments('ZAB')).toHaveLength(2);
    expect(message.getSegment('NTE')).toBeUndefined();
    expect(message.toString()).toMatch(/^MSH\|\^~\\&\|NEW\r.*\rZAB\|1$/s);
  });

  test('a default acknowledgement', () => {
    const ack = parsed().buildAck();
    expect(ack.getAckType()).toBe('AA');
    expect(ack.getSegment('MSA')?.toString()).toBe('MSA|AA|C-1001|OK');
    expect(ack.header.getField(9)?.toString()).toBe('ACK^A01^ACK');
  });
});

test('what a Bot pushes to the lists belongs to the message', () => {
  const message = Hl7Message.parse(ADMISSION);
  expect(message.getAllSegments('NTE')).toHaveLength(1);
  message.segments.push(new Hl7Segment(['NTE', '2', '', 'added']));
  message.header.fields.push(new Hl7Field([['end']]));
  expect(message.getAllSegments('NTE')).toHaveLength(2);
  expect(message.get('NTE[2].3')).toBe('added');
  expect(message.get('MSH.19')).toBe('end');
  expect(message.toString().endsWith('\rNTE|2||added')).toBe(true);
});

test('segments made with @medplum/core fit into our message', () => {
  const message = Hl7Message.parse(ADMISSION);
  const foreign = new medplum.Hl7Segment(['ZAB', 'a^b']) as unknown as Hl7Segment;
  expect(message.setSegment(99, foreign)).toBe(true);
  expect(message.get('ZAB.1.2')).toBe('b');
  expect(message.set('ZAB.1.2', 'c')).toBe(true);
  expect(message.toString().endsWith('\rZAB|a^c')).toBe(true);
});
