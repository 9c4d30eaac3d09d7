import { describe, expect, test } from '@jest/globals';
import { runRecordId } from '../../shared/carry/table/entry-id.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { BusEvent } from '../../shared/carry/work/bus-event.ts';
import { messagesOf } from '../../shared/records/dispatch/dispatch.ts';

type Written = Parameters<typeof messagesOf>[0];

const head = (type: string, versionId: string, more: Record<string, unknown> = {}) => ({
  ...keys.resource('p', type, type === 'Project' ? 'p' : 'x'),
  ...{ versionId, lastUpdated: '2026-01-01T00:00:00.000Z', content: '{"name":"Zebra"}', ...more },
});
const invited = (versionId: string, state: string, generation = 1, more = {}) =>
  head('ProjectMembership', versionId, {
    invitation: { state, generation },
    ...{ userId: 'zebra', login: 'E:zebra@example.org', trace: 'trace-1' },
    ...more,
  });
const program = (versionId: string, more = {}) => head('ProjectMembership', versionId, more);
const bot = (at: string | undefined, more = {}) =>
  head('Bot', '1', { codeVersion: 'hash', ...(at ? { deployed: { at, trace: 'trace-2' } } : {}), ...more });
const ranAt = Date.UTC(2026, 0, 1);
const run = (more = {}) => ({
  ...keys.resource(
    'p',
    'AuditEvent',
    runRecordId('0f8fad5b-d9cb-469f-a165-70867728950f', ranAt, '0f8fad5b-d9cb-469f-a165-70867728950e'),
  ),
  ...{ versionId: '1', lastUpdated: '2026-01-01T00:00:00.000Z', ...more },
});
const executed = JSON.stringify({ bot: 'x', run: 'r', outcome: 'returned', durationMs: 3, trace: 't' });

const eventOf = (written: Written) => messagesOf(written).bus?.body as BusEvent | undefined;

describe('the bus is told', () => {
  test.each<[string, Written, string | undefined]>([
    ['an invite', { before: undefined, after: invited('1', 'pending') }, 'membership.invited'],
    [
      'a new link',
      { before: invited('1', 'pending'), after: invited('2', 'pending', 2) },
      'membership.invited',
    ],
    [
      'an acceptance',
      { before: invited('1', 'pending'), after: invited('2', 'accepted') },
      'membership.accepted',
    ],
    [
      'a member from the first',
      { before: undefined, after: invited('1', 'accepted') },
      'membership.accepted',
    ],
    [
      'other rights',
      { before: invited('1', 'accepted'), after: invited('2', 'accepted') },
      'membership.changed',
    ],
    [
      'a revocation',
      { before: invited('1', 'pending'), after: invited('2', 'revoked') },
      'membership.changed',
    ],
    [
      'a removal',
      { before: invited('1', 'accepted'), after: invited('2', 'accepted', 1, { deleted: true }) },
      'membership.removed',
    ],
    ['a bounce', { before: invited('1', 'pending'), after: invited('1', 'pending') }, undefined],
    ['a new program', { before: undefined, after: program('1') }, undefined],
    ['other rights of a program', { before: program('1'), after: program('2') }, 'membership.changed'],
    [
      'a program that ends',
      { before: program('1'), after: program('2', { deleted: true }) },
      'membership.removed',
    ],
    [
      'a first deployment',
      { before: bot(undefined), after: bot('2026-01-01T00:00:01.000Z') },
      'bot.deployed',
    ],
    [
      'the same code again',
      { before: bot('2026-01-01T00:00:01.000Z'), after: bot('2026-01-01T00:00:02.000Z') },
      'bot.deployed',
    ],
    [
      'another change of a Bot',
      { before: bot('2026-01-01T00:00:01.000Z'), after: bot('2026-01-01T00:00:01.000Z', { versionId: '2' }) },
      undefined,
    ],
    ['a run', { before: undefined, after: run({ executed }) }, 'bot.executed'],
    ['a run of a Project that does not ask', { before: undefined, after: run() }, undefined],
    [
      'a Subscription in error',
      { before: head('Subscription', '1'), after: head('Subscription', '2', { hasFailed: true }) },
      'subscription.failed',
    ],
    [
      'one that stays so',
      {
        before: head('Subscription', '1', { hasFailed: true }),
        after: head('Subscription', '2', { hasFailed: true }),
      },
      undefined,
    ],
    ['a Project', { before: undefined, after: head('Project', '1') }, 'project.created'],
    [
      'a change of a Project',
      { before: head('Project', '1'), after: head('Project', '1', { paused: true }) },
      undefined,
    ],
    ['a record', { before: undefined, after: head('Patient', '1') }, undefined],
    ['what has expired', { before: invited('1', 'pending'), after: undefined }, undefined],
  ])('of %s', (_name, written, expected) => {
    const event = eventOf(written);
    expect(event?.name).toBe(expected);
    // Told again it is the same; and it holds nothing but ids.
    expect(eventOf(written)).toEqual(event);
    expect(JSON.stringify(event) ?? '').not.toMatch(/zebra/i);
  });

  test('of two deployments by two ids, and of each version by one', () => {
    const [first, second] = ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z'];
    const ids = [
      eventOf({ before: bot(undefined), after: bot(first) }),
      eventOf({ before: bot(first), after: bot(second) }),
      eventOf({ before: undefined, after: invited('1', 'pending') }),
      eventOf({ before: invited('1', 'pending'), after: invited('2', 'pending', 2) }),
    ].map((event) => event?.detail.id);
    expect(new Set(ids).size).toBe(4);
  });

  test('of the request that brought it about', () => {
    expect(eventOf({ before: undefined, after: invited('1', 'pending') })?.detail.trace).toBe('trace-1');
    expect(eventOf({ before: bot(undefined), after: bot('2026-01-01T00:00:01.000Z') })?.detail.trace).toBe(
      'trace-2',
    );
    expect(eventOf({ before: undefined, after: run({ executed }) })?.detail).toMatchObject({
      trace: 't',
      durationMs: 3,
    });
  });
});
