import type { Bot } from '@medplum/fhirtypes';
import { Refusal } from '../../../shared/base/refusal.ts';
import type { Resource } from '../../../shared/base/resource.ts';
import { nextDue, scheduleOf } from '../../../shared/bots/schedule/schedule.ts';

/** A schedule as a person reads it. */
export interface SaidSchedule {
  words: string;
  timezone: string;
  next: readonly number[];
}

/** What of a Bot says when it runs. */
export type Scheduled = Pick<Bot, 'cronString' | 'cronTiming' | 'extension'>;

const nextCount = 3;

/** By the code that the service itself goes by. @returns undefined without a schedule, or what is wrong with it */
export function saySchedule(bot: Scheduled, nowMs: number): SaidSchedule | { fault: string } | undefined {
  try {
    const schedule = scheduleOf(bot as unknown as Resource);
    const [clock] = schedule ?? [];
    if (!schedule || !clock) return undefined;
    const next: number[] = [];
    for (
      let ms = nextDue(schedule, nowMs);
      ms !== undefined && next.length < nextCount;
      ms = nextDue(schedule, ms)
    ) {
      next.push(ms);
    }
    const words = schedule.map(({ pattern }) => cronWords(pattern) ?? `by the cron expression ${pattern}`);
    return { words: words.join(', and '), timezone: clock.timezone, next };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { fault: error.issues.map(({ text }) => text).join(' ') };
  }
}

/** Some days, each from the one before so many later, as English names them. @param style of what is named */
const named = (style: Intl.DateTimeFormatOptions, count: number, laterDays: number) =>
  Array.from({ length: count }, (_, at) =>
    new Intl.DateTimeFormat('en', { ...style, timeZone: 'UTC' }).format(
      Date.UTC(2023, 0, 1 + at * laterDays),
    ),
  );
/** The first of January 2023 was a Sunday. */
const weekdays = named({ weekday: 'long' }, 7, 1);
const months = named({ month: 'long' }, 12, 31);
/** More times than that are no list that anybody reads. */
const mostTimes = 6;

/** `30 7 * * 1-5` is "every weekday at 07:30". @returns undefined for what has no plain words */
export function cronWords(pattern: string): string | undefined {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = pattern.trim().split(/\s+/);
  if (weekday === '' || rest.length > 0) return undefined;
  const time = timeWords(minute, hour);
  const days = dayWords(day, weekday);
  const inMonths = month === '*' ? '' : monthWords(month);
  if (!time || days === undefined || inMonths === undefined) return undefined;
  const phrases = time.isAt ? [days || 'every day', time.words] : [time.words, days];
  return [...phrases, inMonths && `in ${inMonths}`].filter(Boolean).join(' ');
}

/** `isAt` when it names times of the day, so that the days come before it. */
function timeWords(minute: string, hour: string): { words: string; isAt: boolean } | undefined {
  const [minutes, hours] = [numbers(minute, 59), numbers(hour, 23)];
  if (minutes && hours && minutes.length * hours.length <= mostTimes) {
    const times = hours.flatMap((h) => minutes.map((m) => `${padded(h)}:${padded(m)}`));
    return { words: `at ${and(times)}`, isAt: true };
  }
  const step = stepOf(minute, 60);
  if (step !== undefined) {
    const every = step === 1 ? 'every minute' : `every ${step} minutes`;
    const within = hourWords(hour);
    return within === undefined
      ? undefined
      : { words: [every, within].filter(Boolean).join(' '), isAt: false };
  }
  const hourStep = stepOf(hour, 24);
  if (!minutes || minutes.length > mostTimes || hourStep === undefined) return undefined;
  const every = hourStep === 1 ? 'every hour' : `every ${hourStep} hours`;
  const past =
    minutes.length === 1 && minutes[0] === 0 ? '' : ` at ${and(minutes.map((m) => `:${padded(m)}`))}`;
  return { words: every + past, isAt: false };
}

/** Between which hours something comes again and again; nothing for all of them. */
function hourWords(hour: string): string | undefined {
  if (hour === '*') return '';
  const [, from, to] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(hour) ?? [];
  if (from === undefined || Number(from) > 23 || Number(to ?? 0) > 23) return undefined;
  return `between ${padded(Number(from))}:00 and ${padded(Number(to ?? from))}:59`;
}

/** Nothing for every day. */
function dayWords(day: string, weekday: string): string | undefined {
  const ofMonth = day === '*' || day === '?' ? '' : dayOfMonthWords(day);
  const ofWeek = weekday === '*' || weekday === '?' ? '' : weekdayWords(weekday);
  if (ofMonth === undefined || ofWeek === undefined) return undefined;
  // As cron has it since ever: either is enough.
  return [ofMonth, ofWeek].filter(Boolean).join(' and ');
}

function dayOfMonthWords(day: string): string | undefined {
  if (day === 'L') return 'on the last day of the month';
  const days = numbers(day, 31);
  return days && days.length <= mostTimes ? `on the ${and(days.map(ordinal))} of the month` : undefined;
}

function weekdayWords(weekday: string): string | undefined {
  const days = numbers(numbered(weekday, weekdays, 0), 7)?.map((one) => one % 7);
  if (!days) return undefined;
  const sorted = [...new Set(days)].sort();
  if (sorted.join('') === '12345') return 'every weekday';
  if (sorted.join('') === '06') return 'every Saturday and Sunday';
  if (sorted.length === 7) return '';
  return `every ${and(sorted.map((one) => weekdays[one] ?? ''))}`;
}

function monthWords(month: string): string | undefined {
  const listed = numbers(numbered(month, months, 1), 12);
  return listed && and(listed.map((one) => months[one - 1] ?? ''));
}

/** A field with numbers in place of names of three letters. @param first the number of the first name */
function numbered(field: string, names: readonly string[], first: number): string {
  return field.replace(/[A-Za-z]{3}/g, (name) => {
    const at = names.findIndex((one) => one.slice(0, 3).toLowerCase() === name.toLowerCase());
    return at < 0 ? name : String(at + first);
  });
}

/** A list of numbers and ranges; undefined for anything else. */
function numbers(field: string, most: number): number[] | undefined {
  const found: number[] = [];
  for (const part of field.split(',')) {
    const [, from, to = from] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part) ?? [];
    if (from === undefined || Number(to) > most || Number(from) > Number(to)) return undefined;
    for (let one = Number(from); one <= Number(to); one++) found.push(one);
  }
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Of an asterisk and of a step that goes into the whole. */
function stepOf(field: string, whole: number): number | undefined {
  if (field === '*') return 1;
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1]);
  return step >= 1 && step < whole && whole % step === 0 ? step : undefined;
}

function ordinal(day: number): string {
  const isTeen = day > 10 && day < 14;
  return `${day}${isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th')}`;
}

function padded(value: number): string {
  return String(value).padStart(2, '0');
}

function and(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
