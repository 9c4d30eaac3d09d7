import { describe, expect, test } from '@jest/globals';
import { logEntryId } from '../../shared/carry/table/entry-id.ts';
import { itemOf } from '../../shared/carry/table/item.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import {
  type Message,
  type NotTaken,
  type Purpose,
  purposes,
  type Queue,
} from '../../shared/carry/work/queue.ts';
import { dispatch, messagesOf } from '../../shared/records/dispatch/dispatch.ts';
import { parseUpkeep } from '../../shared/store/items/upkeep.ts';
import fc from '../setup/fast-check.ts';

const outbox = { pk: 'OUTBOX#3', sk: 'p#m', generation: 1 };
const head = (versionId: string, more = {}) => ({
  ...{ pk: 'P#p#Patient#x', sk: 'HEAD', untidy: true },
  ...{ versionId, lastUpdated: `2026-01-0${versionId}T00:00:00.000Z`, content: '{"name":"Zebra"}' },
  ...more,
});
const entry = {
  ...head('1'),
  ...keys.resource(
    'p',
    'AuditEvent',
    logEntryId(Date.UTC(2026, 0, 1), '0f8fad5b-d9cb-469f-a165-70867728950e'),
  ),
};
/** An item of which no release knows what it is. */
const broken = Object.defineProperty({ pk: 'P#p#Patient#x', sk: 'HEAD' }, 'untidy', {
  get: () => {
    throw new TypeError('not understood');
  },
});
const earlierEntry = { ...head('1'), pk: 'P#p#AuditEvent#e' };
const purposesOf = (written: Parameters<typeof messagesOf>[0]) => Object.keys(messagesOf(written));

describe('what follows a write', () => {
  test.each<[string, Parameters<typeof messagesOf>[0], string[]]>([
    ['a mail to send', { before: undefined, after: outbox }, ['mail']],
    ['a newer mail', { before: outbox, after: { ...outbox, generation: 2 } }, ['mail']],
    ['a claim of a mail', { before: outbox, after: { ...outbox, claimedUntilMs: 1 } }, []],
    ['a mail that was sent', { before: outbox, after: undefined }, []],
    ['an audit entry', { before: undefined, after: entry }, ['audit']],
    ['an audit entry of an earlier release', { before: undefined, after: earlierEntry }, ['audit']],
    ['an audit entry again', { before: entry, after: entry }, []],
    ['a large change', { before: head('1'), after: head('2') }, ['index-upkeep']],
    ['a change of something beside the resource', { before: head('1'), after: head('1', { refs: 2 }) }, []],
    ['a small change', { before: head('1'), after: head('2', { untidy: undefined }) }, []],
    ['an item that is no head', { before: undefined, after: { ...head('1'), sk: 'V#1' } }, []],
    ['a resource of no known type', { before: undefined, after: { ...head('1'), pk: 'P#p#Nothing#x' } }, []],
  ])('for %s', (_name, written, expected) => {
    expect(purposesOf(written)).toEqual(expected);
  });

  test('is said without anything that the item holds', () => {
    const messages = messagesOf({ before: head('1'), after: head('2') });
    expect(JSON.stringify(messages)).not.toContain('Zebra');
    // Whose it is: others do not wait for the many of one Project.
    const { mail } = messagesOf({ before: undefined, after: { ...outbox, project: 'q' } });
    expect([messages['index-upkeep']?.share, mail?.share]).toEqual(['p', 'q']);
    expect(parseUpkeep(messages['index-upkeep']?.body)).toMatchObject({
      ...{ project: 'p', type: 'Patient', id: 'x' },
      ...{ before: { versionId: '1' }, after: { versionId: '2' } },
    });
  });

  test('is decided for whatever stands in a record', () => {
    const leaf = fc.oneof(
      fc.record({ S: fc.string() }),
      fc.record({ N: fc.float().map(String) }),
      fc.record({ BOOL: fc.boolean() }),
      fc.record({ SS: fc.array(fc.string()) }),
      fc.constant({ NULL: true }),
    );
    const names = fc.constantFrom('pk', 'sk', 'untidy', 'generation', 'versionId', 'ttl', 'other');
    const key = fc.record({
      pk: fc.constantFrom('OUTBOX#1', 'P#p#Patient#x', 'P#p#AuditEvent#x', 'x').map((S) => ({ S })),
      sk: fc.constantFrom('HEAD', 'V#1', 'p#m').map((S) => ({ S })),
    });
    const image = fc
      .tuple(fc.dictionary(names, leaf), key)
      .map(([rest, own]) => ({ ...rest, ...own }) as Record<string, unknown>);
    fc.assert(
      fc.property(fc.option(image, { nil: undefined }), fc.option(image, { nil: undefined }), (a, b) => {
        const messages = messagesOf({ before: itemOf(a), after: itemOf(b) });
        expect(Object.keys(messages).every((name) => purposes.some((one) => one === name))).toBe(true);
      }),
    );
  });
});

describe('dispatching', () => {
  const sent: [Purpose, unknown][] = [];
  /** @param notTaken positions among the messages of one call */
  const queueOf = (purpose: Purpose, notTaken: readonly number[]): Queue => ({
    async send(messages: readonly Message[]) {
      for (const { body } of messages) sent.push([purpose, body]);
      return notTaken
        .filter((position) => position < messages.length)
        .map((position): NotTaken => ({ position, cause: 'down' }));
    },
  });
  type Refused = Partial<Record<Purpose, readonly number[]>>;
  const nobody = { about: async () => [], forget: () => undefined };
  const pauses: number[] = [];
  const run = (refuse: Refused, ...writes: Parameters<typeof dispatch>[1]): ReturnType<typeof dispatch> =>
    runWith({ refuse }, ...writes);
  const runWith = (
    { refuse = {}, subscriptions = nobody }: { refuse?: Refused; subscriptions?: typeof nobody },
    ...writes: Parameters<typeof dispatch>[1]
  ) => {
    sent.length = 0;
    pauses.length = 0;
    const queues = Object.fromEntries(
      purposes.map((purpose) => [purpose, queueOf(purpose, refuse[purpose] ?? [])]),
    ) as Record<Purpose, Queue>;
    const services = {
      ...{ queues, subscriptions, knownAfterSeconds: 11 },
      pause: async (ms: number) => pauses.push(ms),
      log: { info: () => undefined, error: () => undefined },
    };
    return dispatch(services, writes);
  };
  const mail = (n: number) => ({ before: undefined, after: { ...outbox, sk: `p#${n}` } });
  const nothing = { before: undefined, after: { pk: 'x', sk: 'y' } };

  test('asks for nothing again when all queues took theirs', async () => {
    expect(await run({}, mail(1), { before: undefined, after: entry }, nothing)).toBeUndefined();
    expect(sent.map(([purpose]) => purpose)).toEqual(['mail', 'audit']);
  });

  const audited = { before: undefined, after: entry };
  test.each<[Refused, number]>([
    [{ mail: [1] }, 3],
    [{ mail: [2] }, 5],
    [{ mail: [2, 0, 1] }, 1],
    [{ mail: [2], audit: [0] }, 4],
    [{ mail: [1], audit: [0] }, 3],
  ])('when %j are not taken asks again from the first write of these', async (refuse, first) => {
    expect(await run(refuse, nothing, mail(1), nothing, mail(2), audited, mail(3))).toBe(first);
  });

  test('sends the messages of other purposes all the same', async () => {
    await run({ mail: [1] }, mail(1), mail(2), audited);
    expect(sent.filter(([purpose]) => purpose === 'audit')).toHaveLength(1);
  });

  const patient = { before: undefined, after: head('1', { untidy: undefined }) };
  const unreachable = { about: () => Promise.reject(new Error('no answer')), forget: () => undefined };

  test.each<[string, Parameters<typeof runWith>, number | undefined, number[]]>([
    ['all are taken', [{}, mail(1)], undefined, []],
    ['a queue takes none', [{ refuse: { mail: [0, 1] } }, mail(1), mail(2)], 0, [10_000]],
    [
      'a queue does not take one before the table is out of reach',
      [{ refuse: { mail: [1] }, subscriptions: unreachable }, mail(1), mail(2), patient],
      1,
      [10_000],
    ],
    ['the table is out of reach', [{ subscriptions: unreachable }, mail(1), patient], 1, [10_000]],
    ['a record is not understood', [{}, mail(1), { before: undefined, after: broken }, mail(2)], 1, []],
  ])('when %s, waits where waiting helps: an outage uses up no retries', async (_, given, first, waited) => {
    expect(await runWith(...given)).toBe(first);
    expect(pauses).toEqual(waited);
  });

  test('sends nothing that stands behind a record that is not understood', async () => {
    await run({}, mail(1), { before: undefined, after: broken }, mail(2));
    expect(sent).toHaveLength(1);
  });
});
