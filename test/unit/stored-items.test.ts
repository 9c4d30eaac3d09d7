import { describe, expect, test } from '@jest/globals';
import { errorCode, errorName, errorText, fieldsOf, isObject } from '../../shared/base/values.ts';
import { dueItem, dueOf } from '../../shared/bots/schedule/due.ts';
import { itemOf } from '../../shared/carry/table/item.ts';
import { parseBusEvent } from '../../shared/carry/work/bus-event.ts';
import { parseKey } from '../../shared/carry/work/queue.ts';
import { parseCandidate } from '../../shared/records/subscriptions/change.ts';
import { parseStatus } from '../../shared/records/subscriptions/change-status.ts';
import { deliveryOf, newDelivery, parseLane } from '../../shared/records/subscriptions/delivery.ts';
import { writerIn } from '../../shared/records/subscriptions/writer.ts';

const version = { versionId: 'v1', lastUpdated: '2026-01-01T00:00:00.000Z' };
const change = { project: 'p', type: 'Patient', id: '1', interaction: 'create', version } as const;
const head = { pk: 'pk', sk: 'sk' };

describe('a message of a queue', () => {
  test.each([
    ['change', parseCandidate, { ...change, subscriptions: ['s'] }],
    ['lane', parseLane, { project: 'p', subscriptionId: 's', lane: 'Patient#1' }],
    ['status', parseStatus, { project: 'p', id: 's', failed: 'gone' }],
    [
      'event',
      parseBusEvent,
      { name: 'bot.deployed', detail: { id: 'i', project: 'p', time: 't', bot: 'b' } },
    ],
    ['key', parseKey, head],
  ] as [string, (body: unknown) => unknown, object][])(
    'that names a %s is read, one that lacks a field is refused',
    (_, parse, body) => {
      expect(parse(body)).toEqual(body);
      for (const name of Object.keys(body).filter((one) => one !== 'failed')) {
        expect(() => parse({ ...body, [name]: 7 })).toThrow(/names no|is no event/);
      }
      for (const none of [undefined, null, 'text', []])
        expect(() => parse(none)).toThrow(/names no|is no event/);
    },
  );
});

describe('a stored item', () => {
  test('is read as what it was written as', () => {
    const delivery = newDelivery('s', change);
    expect(deliveryOf({ ...head, ...delivery })).toMatchObject(delivery);
    const due = { project: 'p', botId: 'b', dueAt: '2026-01-01T00:00:00.000Z' };
    expect(dueOf(dueItem(due))).toMatchObject(due);
    const writer = { callers: [{ membershipId: 'm', profile: 'Bot/1', scope: '' }] };
    expect(writerIn({ ...head, by: writer })).toEqual(writer);
    expect(writerIn(head)).toBeUndefined();
  });

  test('that is another is a fault, which names the field and not the value', () => {
    const delivery = { ...head, ...newDelivery('s', change), attempt: 'Smith' };
    expect(() => deliveryOf(delivery)).toThrow('A stored delivery is not as it was written: attempt');
    expect(() => writerIn({ ...head, by: { callers: 'Smith' } })).toThrow(/: by\.callers$/);
  });

  test('comes out of the stream with its key', () => {
    const image = {
      pk: { S: 'pk' },
      sk: { S: 'sk' },
      n: { N: '1' },
      l: { L: [{ M: { a: { BOOL: false } } }] },
      b: { B: 'QQ==' },
    };
    expect(itemOf(image)).toEqual({ ...head, n: 1, l: [{ a: false }], b: Buffer.from('A') });
    expect(() => itemOf({ n: { N: '1' } })).toThrow('has no key');
  });
});

test('members are read of whatever has some', () => {
  expect([null, undefined, 1, 'text'].map(fieldsOf)).toEqual([{}, {}, {}, {}]);
  expect(fieldsOf([7])[0]).toBe(7);
  expect([null, 'text', {}, []].map(isObject)).toEqual([false, false, true, true]);
});

test('an error is known by its code and its name, whatever was thrown', () => {
  const error = Object.assign(new TypeError('secret'), { code: 'ENOENT' });
  expect([errorCode(error), errorName(error), errorText(error)]).toEqual(['ENOENT', 'TypeError', 'secret']);
  expect([errorCode({ code: 20 }), errorName(null), errorText('text')]).toEqual([
    undefined,
    'object',
    'text',
  ]);
});
