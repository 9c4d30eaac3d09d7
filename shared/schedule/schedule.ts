import type { Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { Refusal } from '../refusal.ts';
import { type Clock, isTimezone, nextTime, patternFault } from './next-time.ts';
import { patternsOf, TimingFault } from './timing.ts';

/** When a Bot runs by itself: whenever one of its clocks strikes. */
export type Schedule = readonly Clock[];

const timezoneUrl = 'urn:portico:extension:timezone';

/**
 * A Bot's `cronString` or `cronTiming`, in the time zone of its extension.
 * @returns undefined for a Bot without
 * @throws {Refusal} unprocessable, with the field as expression
 */
export function scheduleOf(bot: Resource): Schedule | undefined {
  const timezone = timezoneOf(bot);
  const { cronString, cronTiming } = bot;
  if (cronString !== undefined) {
    const fault = patternFault(String(cronString));
    if (fault) throw unprocessable('cronString', fault);
    return [{ pattern: String(cronString), timezone }];
  }
  if (cronTiming === undefined) return undefined;
  try {
    return patternsOf(cronTiming).map((pattern) => ({ pattern, timezone }));
  } catch (error) {
    if (error instanceof TimingFault) throw unprocessable('cronTiming', error.message);
    throw error;
  }
}

/** When it is due next after an instant, both in ms since the epoch; undefined when never. */
export function nextDue(schedule: Schedule, afterMs: number): number | undefined {
  const times = schedule.flatMap((clock) => nextTime(clock, afterMs) ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}

function timezoneOf({ extension }: Resource): string {
  const all = Array.isArray(extension) ? extension.map(fieldsOf) : [];
  const at = all.findIndex(({ url }) => url === timezoneUrl);
  if (at < 0) return 'UTC';
  const named = all[at]?.valueCode;
  if (isTimezone(named)) return named;
  throw unprocessable(
    `extension[${at}]`,
    'There is no such time zone: it must be a name such as Europe/Paris',
  );
}

function unprocessable(expression: string, text: string): Refusal {
  return new Refusal('unprocessable', text, { issues: [{ expression, text }] });
}
