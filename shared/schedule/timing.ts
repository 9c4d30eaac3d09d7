/** FHIR Timing (R4), as far as it says when a Bot runs, as cron expressions that say exactly the same. */

import { fieldsOf } from '../fields-of.ts';

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minutesOf: Readonly<Record<string, number>> = { min: 1, h: 60, d: 1_440, wk: 10_080 };
const understood = new Set(['frequency', 'period', 'periodUnit', 'dayOfWeek', 'timeOfDay']);
const mostTimes = 24;

/** @throws {TimingFault} for what cannot be said exactly */
export function patternsOf(timing: unknown): string[] {
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

export class TimingFault extends Error {}

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
