import { numberOf } from '../../base/json.ts';
import { invalidField } from '../../base/refusal.ts';
import { shardOf } from '../../carry/table/keys.ts';
import {
  type ConditionRequest,
  type Interval,
  type ParameterKind,
  type Prefix,
  prefixes,
  requireModifier,
  type SearchedInterval,
} from './condition.ts';
import { type BucketRange, shards } from './key-range.ts';
import { modifiers, type SearchParameter } from './registry.ts';
import { fieldOf, listOf, remembered, splitValue, textOf, unescapeValue, type Value } from './value.ts';

/** R4 date search, with prefixes. */
export const dateKind = orderedKind(datesOf, isNarrowDate);

/** R4 number and quantity search, with prefixes; a quantity is `number`, `number|system|code` or `number||unit`. */
export const numberKind = orderedKind(numbersOf, ({ low, high }) => low === high);

const ownModifiers: readonly never[] = [...modifiers.date, ...modifiers.number, ...modifiers.quantity];

/**
 * Every value has an item by its low bound (bucket `S`). A value that is not narrow has one more by its high bound
 * (`E`), so that a search for "ends after" need not start at the beginning of time.
 */
function orderedKind(
  intervalsOf: (value: Value) => Interval[],
  isNarrow: (interval: Interval) => boolean,
): ParameterKind {
  const intervalsIn = remembered((values: readonly Value[]) =>
    values.map((value) => ({ value, intervals: intervalsOf(value) })),
  );
  return {
    entries(values, id) {
      const shard = shardOf(id, shards);
      return values
        .flatMap(intervalsOf)
        .flatMap((interval) => [
          { bucket: `S${shard}`, sort: interval.low },
          ...(isNarrow(interval) ? [] : [{ bucket: `E${shard}`, sort: interval.high }]),
        ]);
    },
    condition(asked) {
      const { parameter, values } = asked;
      requireModifier(ownModifiers, asked);
      const searched = values.map((text) => parseSearched(asked, text));
      const ranges = searched.map(({ interval }) => jointRanges(parameter, [interval]));
      const [only, ...others] = searched;
      return {
        matches: (found) =>
          intervalsIn(found).some(({ value, intervals }) =>
            searched.some(
              ({ interval, unit }) =>
                isOfUnit(value, unit) && intervals.some((one) => isMatch(one, interval)),
            ),
          ),
        ranges: ranges.every((one) => one !== undefined) ? ranges.flat() : undefined,
        // An item tells one bound of its value, and nothing of units.
        proves: (bucket, sort) =>
          searched.some(({ interval, unit: { system, code } }) => {
            const isShown = comparisons[interval.prefix].proves.includes(bucket.charAt(0));
            return isShown && (system ?? code) === undefined && isMatch({ low: sort, high: sort }, interval);
          }),
        ...(only && others.length === 0 ? { interval: only.interval } : { alternatives: values.length }),
      };
    },
    sortTexts: (values) => intervalsIn(values).flatMap(({ intervals }) => intervals.map(({ low }) => low)),
  };
}

interface Comparison {
  matches(value: Interval, searched: Interval): boolean;
  /** The bound of what is searched from which low bounds of values begin, to which they go, and to which values reach. */
  from?: keyof Interval;
  to?: keyof Interval;
  reaching?: keyof Interval;
  /** By which of its bounds a value is shown to match: `S` the low one, `E` the high one. */
  proves: string;
}

/** R4 search, prefixes: `v` is a value, `s` what is searched. */
const comparisons: Readonly<Record<Prefix, Comparison>> = {
  eq: { matches: (v, s) => s.low <= v.low && v.high <= s.high, from: 'low', to: 'high', proves: '' },
  ne: { matches: (v, s) => v.low < s.low || s.high < v.high, proves: '' },
  gt: { matches: (v, s) => v.high > s.high, reaching: 'high', proves: 'SE' },
  ge: { matches: (v, s) => v.high >= s.low, reaching: 'low', proves: 'SE' },
  lt: { matches: (v, s) => v.low < s.low, to: 'low', proves: 'S' },
  le: { matches: (v, s) => v.low <= s.high, to: 'high', proves: 'S' },
  sa: { matches: (v, s) => v.low > s.high, from: 'high', proves: 'S' },
  eb: { matches: (v, s) => v.high < s.low, to: 'low', proves: 'E' },
  ap: { matches: (v, s) => v.low <= s.high && s.low <= v.high, reaching: 'low', to: 'high', proves: 'S' },
};

function isMatch(value: Interval, searched: SearchedInterval): boolean {
  return comparisons[searched.prefix].matches(value, searched);
}

/**
 * Where all values are that match every one of the intervals.
 * @returns undefined when only `ne` is asked: everything but a little
 */
export function jointRanges(
  parameter: SearchParameter,
  intervals: readonly SearchedInterval[],
): BucketRange[] | undefined {
  const bounds = (name: 'from' | 'to' | 'reaching') =>
    intervals.flatMap((one) => {
      const bound = comparisons[one.prefix][name];
      return bound === undefined ? [] : [one[bound]];
    });
  const reaching = bounds('reaching').sort().at(-1);
  const lengthMs = narrowMs(parameter);
  const lows = [...bounds('from'), ...bounds('reaching').map((bound) => before(bound, lengthMs))];
  const [from, to] = [lows.sort().at(-1), bounds('to').sort()[0]];
  if (from === undefined && to === undefined) return undefined;
  // `~` sorts after the `#` that ends a value in a sort key, and after every character of an id.
  const low = { from, to: to === undefined ? undefined : `${to}~` };
  const isEmpty = from !== undefined && to !== undefined && from > to;
  return Array.from({ length: shards }, (_, shard) => [
    ...(isEmpty ? [] : [{ bucket: `S${shard}`, ...low }]),
    ...(reaching === undefined ? [] : [{ bucket: `E${shard}`, from: reaching }]),
  ]).flat();
}

/** How long the values may be that have one item alone: instants are said to the second at least, numbers are points. */
function narrowMs({ type, paths }: SearchParameter): number {
  if (type !== 'date') return 0;
  return paths.every((path) => path.type === 'instant') ? 1000 : dayMs;
}

/** The bound below which no value of such a length begins that reaches the given one. */
function before(bound: string, lengthMs: number): string {
  if (lengthMs === 0) return bound;
  const ms = Date.parse(bound) - lengthMs;
  return new Date(Math.max(ms, first)).toISOString();
}

const dayMs = 86_400_000;
const first = Date.parse('0001-01-01T00:00:00.000Z');
const last = Date.parse('9999-12-31T23:59:59.999Z');

const form =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

/**
 * From the first to the last millisecond that an R4 date, dateTime or instant covers; without a
 * zone it is read as UTC.
 */
export function parseDate(text: string): Interval | undefined {
  const bounds = boundsOf(text);
  return bounds && intervalOf(bounds);
}

/** The milliseconds of an interval: many are read of a Timing, and two of them written. */
type Bounds = Record<keyof Interval, number>;

function intervalOf({ low, high }: Bounds): Interval {
  return { low: new Date(low).toISOString(), high: new Date(high).toISOString() };
}

function boundsOf(text: string): Bounds | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone = 'Z'] = parts;
  const millis = (fraction ?? '').slice(0, 3).padEnd(3, '0');
  const clock = `${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}.${millis}`;
  const low = Date.parse(`${year}-${month ?? '01'}-${day ?? '01'}T${clock}${hour ? zone : 'Z'}`);
  if (Number.isNaN(low)) return undefined;
  const lengthMs = fraction ? 1 : second ? 1000 : minute ? 60_000 : dayMs;
  if (day) return { low, high: low + lengthMs - 1 };
  const next = new Date(low);
  if (month) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  return { low, high: next.getTime() - 1 };
}

/**
 * Of a Timing its outer limits (R4 search, date); a Period without bound reaches to the end of time.
 */
function datesOf({ type, value }: Value): Interval[] {
  if (type === 'Period') return periodOf(value).map(intervalOf);
  if (type !== 'Timing') return dateOf(value).map(intervalOf);
  const period = fieldOf(fieldOf(value, 'repeat'), 'boundsPeriod');
  const all = [...listOf(fieldOf(value, 'event')).flatMap(dateOf), ...periodOf(period)];
  const widest = (a: Bounds, b: Bounds) => ({ low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) });
  return all.length === 0 ? [] : [intervalOf(all.reduce(widest))];
}

function isNarrowDate({ low, high }: Interval): boolean {
  return Date.parse(high) - Date.parse(low) < dayMs;
}

function dateOf(value: unknown): Bounds[] {
  return [boundsOf(textOf(value) ?? '') ?? []].flat();
}

function periodOf(value: unknown): Bounds[] {
  const [start] = dateOf(fieldOf(value, 'start'));
  const [end] = dateOf(fieldOf(value, 'end'));
  return start || end ? [{ low: start?.low ?? first, high: end?.high ?? last }] : [];
}

/** A number as 16 hex digits that sort as numbers do (IEEE 754 with its sign turned round). */
export function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const sign = 1n << 63n;
  return (bits & sign ? ~bits & 0xffffffffffffffffn : bits | sign).toString(16).padStart(16, '0');
}

function numbersOf({ type, value }: Value): Interval[] {
  if (type === 'Range') {
    const low = numberOf(fieldOf(fieldOf(value, 'low'), 'value')) ?? Number.NEGATIVE_INFINITY;
    const high = numberOf(fieldOf(fieldOf(value, 'high'), 'value')) ?? Number.POSITIVE_INFINITY;
    return [{ low: sortableNumber(low), high: sortableNumber(high) }];
  }
  const number = numberOf(value) ?? numberOf(fieldOf(value, 'value'));
  return number === undefined ? [] : [{ low: sortableNumber(number), high: sortableNumber(number) }];
}

type SearchedUnit = { system?: string | undefined; code?: string | undefined };

function isOfUnit({ type, value }: Value, { system, code }: SearchedUnit): boolean {
  const quantity = type === 'Range' ? (fieldOf(value, 'low') ?? fieldOf(value, 'high')) : value;
  if (system && textOf(fieldOf(quantity, 'system')) !== system) return false;
  return !code || ['code', 'unit', 'currency'].some((name) => fieldOf(quantity, name) === code);
}

/** @param text `[prefix]date`, `[prefix]number`, or a quantity with its unit */
function parseSearched(
  { parameter: { type }, name }: ConditionRequest,
  text: string,
): { interval: SearchedInterval; unit: SearchedUnit } {
  const found = prefixes.find((one) => text.startsWith(one));
  const prefix = found ?? 'eq';
  const rest = found ? text.slice(found.length) : text;
  const [value = '', system, code] = splitValue(rest, '|').map(unescapeValue);
  const interval = type === 'date' ? parseDate(rest) : parseNumber(value, prefix);
  if (!interval) throw invalidField(name, `${unescapeValue(text)} is not a ${type}`);
  return { interval: { prefix, ...interval }, unit: type === 'quantity' ? { system, code } : {} };
}

/**
 * A searched number: for equality all that rounds to it at the digits given (`100` is 99.5 up to
 * 100.5), for `ap` a tenth to both sides, for comparisons the very number.
 */
function parseNumber(text: string, prefix: Prefix): Interval | undefined {
  const digits = /^[+-]?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  const value = Number(text);
  if (!digits || !Number.isFinite(value)) return undefined;
  if (prefix === 'eq' || prefix === 'ne') {
    const [, fraction = '', exponent = '0'] = digits;
    const half = 0.5 * 10 ** (Number(exponent) - fraction.length);
    // The upper bound is not included; half of the last digit may be less than a double can tell.
    const high = Math.max(value, below(value + half));
    return { low: sortableNumber(value - half), high: sortableNumber(high) };
  }
  const around = prefix === 'ap' ? Math.abs(value) / 10 : 0;
  return { low: sortableNumber(value - around), high: sortableNumber(value + around) };
}

function below(value: number): number {
  return value - Math.abs(value) * Number.EPSILON || -Number.MIN_VALUE;
}
