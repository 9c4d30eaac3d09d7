import { Cron } from 'croner';
import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';

/** A cron expression of five fields, in a time zone. */
interface Clock {
  pattern: string;
  /** IANA. */
  timezone: string;
}

const minuteMs = 60_000;
/** Longer than clocks are ever put back. */
const longestRepeatMs = 3 * 60 * minuteMs;

/**
 * When a clock strikes next after an instant, both in ms since the epoch; undefined when it never does. A
 * fixed local time that is skipped in spring strikes an hour later, one that comes twice in autumn once;
 * with `*` for the hour it goes by elapsed time.
 */
function nextTime(clock: Clock, afterMs: number): number | undefined {
  const cron = open(clock);
  const nextMs = nextRun(cron, afterMs);
  if (clock.pattern.trim().split(/\s+/)[1] !== '*') return nextMs;
  // The library leaves out an hour that comes twice.
  const untilMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, afterMs + longestRepeatMs);
  for (let ms = (Math.floor(afterMs / minuteMs) + 1) * minuteMs; ms < untilMs; ms += minuteMs) {
    if (cron.match(new Date(ms))) return ms;
  }
  return nextMs;
}

/** In an hour that comes twice the library answers times of its first coming, which are over. */
function nextRun(cron: Cron, afterMs: number): number | undefined {
  for (let fromMs = afterMs; fromMs <= afterMs + longestRepeatMs; fromMs += 30 * minuteMs) {
    const nextMs = cron.nextRun(new Date(fromMs))?.getTime();
    if (nextMs === undefined || nextMs > afterMs) return nextMs;
  }
  return undefined;
}

function patternFault(pattern: string): string | undefined {
  if (pattern.length > 100 || pattern.trim().split(/\s+/).length !== 5) {
    return 'It must be a cron expression of five fields: minute, hour, day, month, weekday';
  }
  try {
    const next = open({ pattern, timezone: 'UTC' }).nextRun(new Date());
    return next ? undefined : 'It never comes';
  } catch {
    return 'It is no cron expression';
  }
}

function isTimezone(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > 64) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function open({ pattern, timezone }: Clock): Cron {
  return new Cron(pattern.trim(), { timezone, mode: '5-part', paused: true });
}

/** FHIR Timing (R4), as far as it says when a Bot runs, as cron expressions that say exactly the same. */

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minutesOf: Readonly<Record<string, number>> = { min: 1, h: 60, d: 1_440, wk: 10_080 };
const understood = new Set(['frequency', 'period', 'periodUnit', 'dayOfWeek', 'timeOfDay']);
const mostTimes = 24;

function patternsOf(timing: unknown): string[] {
  const { repeat: said, ...others } = fieldsOf(timing);
  const repeat = fieldsOf(said);
  const beyond = [...Object.keys(others), ...Object.keys(repeat).filter((name) => !understood.has(name))];
  if (beyond.length > 0) throw new TimingFault(`${beyond[0]} is not supported`);
  if (!said) throw new TimingFault('It has no repeat');
  const weekdays = weekdaysOf(repeat.dayOfWeek);
  const every = intervalOf(repeat);
  if (repeat.timeOfDay !== undefined) {
    const isDaily =
      every === undefined || every === minutesOf.d || (every === minutesOf.wk && weekdays !== '*');
    if (!isDaily) throw new TimingFault('Times of the day come every day, or on days of the week');
    return timesOf(repeat.timeOfDay).map(([hour, minute]) => `${minute} ${hour} * * ${weekdays}`);
  }
  if (every === undefined) throw new TimingFault('It needs a periodUnit, or times of the day');
  return [patternOfInterval(every, weekdays)];
}

class TimingFault extends Error {}

function intervalOf({ frequency = 1, period = 1, periodUnit }: Record<string, unknown>): number | undefined {
  if (periodUnit === undefined) return undefined;
  if (periodUnit === 's') throw new TimingFault('It may come once a minute at most');
  const unit = minutesOf[String(periodUnit)];
  if (unit === undefined) throw new TimingFault('The periodUnit must be min, h, d or wk');
  const minutes = (Number(period) * unit) / Number(frequency);
  if (minutes < 1) throw new TimingFault('It may come once a minute at most');
  return minutes;
}

function patternOfInterval(minutes: number, weekdays: string): string {
  const hours = minutes / 60;
  if (minutes === 1) return `* * * * ${weekdays}`;
  if (Number.isInteger(minutes) && 60 % minutes === 0 && minutes < 60)
    return `*/${minutes} * * * ${weekdays}`;
  if (minutes === 60) return `0 * * * ${weekdays}`;
  if (Number.isInteger(hours) && 24 % hours === 0 && hours < 24) return `0 */${hours} * * ${weekdays}`;
  if (minutes === minutesOf.d) return `0 0 * * ${weekdays}`;
  if (minutes === minutesOf.wk) return `0 0 * * ${weekdays === '*' ? '0' : weekdays}`;
  throw new TimingFault('The interval must go into an hour, a day or a week without a rest');
}

function weekdaysOf(named: unknown): string {
  if (named === undefined) return '*';
  const numbers = Array.isArray(named) ? named.map((day) => days.indexOf(String(day))) : [-1];
  if (numbers.length === 0 || numbers.includes(-1)) throw new TimingFault('The dayOfWeek is none');
  return [...new Set(numbers)].sort().join(',');
}

function timesOf(named: unknown): [hour: number, minute: number][] {
  const times = Array.isArray(named) ? named : [];
  if (times.length === 0 || times.length > mostTimes) throw new TimingFault(`It has 1 to ${mostTimes} times`);
  return times.map((time) => {
    const [, hour = '', minute = ''] = /^([01]\d|2[0-3]):([0-5]\d):00(?:\.0+)?$/.exec(String(time)) ?? [];
    if (hour === '') throw new TimingFault('A time of the day is a whole minute, hh:mm:00');
    return [Number(hour), Number(minute)];
  });
}

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
