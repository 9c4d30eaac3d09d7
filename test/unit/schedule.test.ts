import { describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { nextDue, scheduleOf } from '../../shared/bots/schedule/schedule.ts';
import fc from '../setup/fast-check.ts';

const bot = (fields: Record<string, unknown>): Resource => ({
  ...{ resourceType: 'Bot', id: 'b', meta: { versionId: '1', lastUpdated: '2026-01-01T00:00:00Z' } },
  ...fields,
});
const zone = (valueCode: string) => ({ extension: [{ url: 'urn:portico:extension:timezone', valueCode }] });

/** The next times, as UTC without the seconds. */
function times(fields: Record<string, unknown>, after: string, count: number): string[] {
  const schedule = scheduleOf(bot(fields));
  const found: string[] = [];
  for (let ms = Date.parse(after); found.length < count; ) {
    ms = nextDue(schedule ?? [], ms) ?? Number.NaN;
    found.push(new Date(ms).toISOString().slice(0, 16));
  }
  return found;
}

describe('a schedule comes', () => {
  test.each<[string, Record<string, unknown>, string, string[]]>([
    [
      'at its local time on weekdays',
      { cronString: '30 7 * * 1-5', ...zone('Europe/Paris') },
      '2026-11-20T10:00:00Z',
      ['2026-11-23T06:30', '2026-11-24T06:30'],
    ],
    [
      'an hour later where its local time is skipped',
      { cronString: '30 2 * * *', ...zone('Europe/Paris') },
      '2026-03-28T10:00:00Z',
      ['2026-03-29T01:30', '2026-03-30T00:30'],
    ],
    [
      'once where its local time comes twice',
      { cronString: '30 2 * * *', ...zone('Europe/Paris') },
      '2026-10-24T10:00:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'by elapsed time with * for the hour, when clocks are put back',
      { cronString: '30 * * * *', ...zone('Europe/Paris') },
      '2026-10-24T23:40:00Z',
      ['2026-10-25T00:30', '2026-10-25T01:30', '2026-10-25T02:30'],
    ],
    [
      'by elapsed time with * for the hour, when they are put forward',
      { cronString: '30 * * * *', ...zone('Europe/Paris') },
      '2026-03-28T23:40:00Z',
      ['2026-03-29T00:30', '2026-03-29T01:30', '2026-03-29T02:30'],
    ],
    [
      'on leap days',
      { cronString: '0 12 29 2 *' },
      '2026-01-01T00:00:00Z',
      ['2028-02-29T12:00', '2032-02-29T12:00'],
    ],
    [
      'by a Timing with times of days',
      { cronTiming: { repeat: { dayOfWeek: ['mon', 'fri'], timeOfDay: ['08:00:00', '17:30:00'] } } },
      '2026-11-20T12:00:00Z',
      ['2026-11-20T17:30', '2026-11-23T08:00', '2026-11-23T17:30'],
    ],
    [
      'by a Timing with an interval',
      { cronTiming: { repeat: { frequency: 2, period: 1, periodUnit: 'h' } } },
      '2026-11-20T12:00:00Z',
      ['2026-11-20T12:30', '2026-11-20T13:00'],
    ],
    [
      'by a Timing once a week',
      { cronTiming: { repeat: { period: 1, periodUnit: 'wk', dayOfWeek: ['tue'] } } },
      '2026-11-20T12:00:00Z',
      ['2026-11-24T00:00', '2026-12-01T00:00'],
    ],
  ])('%s', (_name, fields, after, expected) => {
    expect(times(fields, after, expected.length)).toEqual(expected);
  });

  test('later than what was asked, whatever it is and whenever', () => {
    const patterns = fc.constantFrom(
      '* * * * *',
      '*/20 * * * *',
      '30 * * * *',
      '30 2 * * *',
      '*/20 2 * * *',
      '0 */2 * * *',
    );
    const zones = fc.constantFrom('Europe/Paris', 'Australia/Lord_Howe', 'America/St_Johns', 'UTC');
    // Around the last Sundays of March and October, and the first of April, October and November.
    const changes = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'];
    const instants = fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -1_440, max: 1_440 }))
      .map(([day, minutes]) => Date.parse(`${day}T00:00:00Z`) + minutes * 60_000);
    fc.assert(
      fc.property(patterns, zones, instants, (cronString, name, afterMs) => {
        const schedule = scheduleOf(bot({ cronString, ...zone(name) })) ?? [];
        expect(nextDue(schedule, afterMs)).toBeGreaterThan(afterMs);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a schedule is refused', () => {
  const repeat = (more: object) => ({ cronTiming: { repeat: more } });
  test.each<[string, Record<string, unknown>, string]>([
    ['six fields', { cronString: '* * * * * *' }, 'cronString'],
    ['a word', { cronString: '@daily' }, 'cronString'],
    ['what is no cron expression', { cronString: '61 * * * *' }, 'cronString'],
    ['a day that never comes', { cronString: '0 0 31 2 *' }, 'cronString'],
    ['seconds', repeat({ period: 30, periodUnit: 's' }), 'cronTiming'],
    ['more than once a minute', repeat({ frequency: 2, period: 1, periodUnit: 'min' }), 'cronTiming'],
    ['an interval with a rest', repeat({ frequency: 1, period: 7, periodUnit: 'min' }), 'cronTiming'],
    ['events of a day', repeat({ when: ['MORN'] }), 'cronTiming'],
    ['months', repeat({ period: 1, periodUnit: 'mo' }), 'cronTiming'],
    ['a time with seconds', repeat({ timeOfDay: ['08:00:30'] }), 'cronTiming'],
    ['a time zone that is none', { cronString: '0 0 * * *', ...zone('Mars/Phobos') }, 'extension[0]'],
  ])('for %s', (_name, fields, expression) => {
    expect(issuesOf(fields)).toEqual([expect.objectContaining({ expression })]);
  });

  test('for a Timing that says nothing, in these words', () => {
    expect(issuesOf({ cronTiming: {} })).toEqual([
      expect.objectContaining({ text: expect.stringContaining('It has no repeat') }),
    ]);
  });

  function issuesOf(fields: Record<string, unknown>): unknown {
    try {
      return scheduleOf(bot(fields));
    } catch (error) {
      return (error as { issues: unknown }).issues;
    }
  }
});
