import type { Range } from './range.ts';
import { fieldOf, listOf, textOf, type Value } from './value.ts';

const dayMs = 86_400_000;
const first = '0001-01-01T00:00:00.000Z';
const last = '9999-12-31T23:59:59.999Z';

const form =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

/**
 * From the first to the last millisecond that an R4 date, dateTime or instant covers; without a
 * zone it is read as UTC.
 */
export function parseDate(text: string): Range | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone = 'Z'] = parts;
  const millis = (fraction ?? '').slice(0, 3).padEnd(3, '0');
  const clock = `${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}.${millis}`;
  const low = Date.parse(`${year}-${month ?? '01'}-${day ?? '01'}T${clock}${hour ? zone : 'Z'}`);
  if (Number.isNaN(low)) return undefined;
  const length = fraction
    ? 1
    : second
      ? 1000
      : minute
        ? 60_000
        : day
          ? dayMs
          : lengthOf(low, month !== undefined);
  return { low: new Date(low).toISOString(), high: new Date(low + length - 1).toISOString() };
}

/**
 * The range of a date, Period or Timing: of a Timing its outer limits (R4 search, date); a Period without
 * bound reaches to the end of time.
 */
export function datesOf({ type, value }: Value): Range[] {
  if (type === 'Period') return periodOf(value);
  if (type === 'Timing') {
    const bounds = fieldOf(fieldOf(value, 'repeat'), 'boundsPeriod');
    return hull([...listOf(fieldOf(value, 'event')).flatMap(dateOf), ...(bounds ? periodOf(bounds) : [])]);
  }
  return dateOf(value);
}

/** Up to a day long: the usual date. */
export function isNarrowDate({ low, high }: Range): boolean {
  return Date.parse(high) - Date.parse(low) < dayMs;
}

/** The bound below which no value of up to a day begins that reaches the given one. */
export function dayBefore(bound: string): string {
  return before(bound, dayMs);
}

/** The same of instants, which are said to the second at least. */
export function secondBefore(bound: string): string {
  return before(bound, 1000);
}

function before(bound: string, lengthMs: number): string {
  const ms = Date.parse(bound) - lengthMs;
  return ms < Date.parse(first) ? first : new Date(ms).toISOString();
}

function dateOf(value: unknown): Range[] {
  const range = parseDate(textOf(value) ?? '');
  return range ? [range] : [];
}

function hull(ranges: readonly Range[]): Range[] {
  const [low, high] = [
    ranges.map((range) => range.low).sort()[0],
    ranges
      .map((range) => range.high)
      .sort()
      .at(-1),
  ];
  return low === undefined || high === undefined ? [] : [{ low, high }];
}

function periodOf(value: unknown): Range[] {
  const [start] = dateOf(fieldOf(value, 'start'));
  const [end] = dateOf(fieldOf(value, 'end'));
  return start || end ? [{ low: start?.low ?? first, high: end?.high ?? last }] : [];
}

function lengthOf(low: number, isMonth: boolean): number {
  const next = new Date(low);
  if (isMonth) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  return next.getTime() - low;
}
