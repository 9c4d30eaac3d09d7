import { datesOf, dayBefore, parseDate, secondBefore } from '../../index/date.ts';
import { splitValue, unescapeValue } from '../../index/escape.ts';
import { matchesUnit, numbersOf, parseNumber, type WantedUnit } from '../../index/number.ts';
import {
  matchesRange,
  prefixes,
  provesRange,
  type Range,
  rangeSpans,
  type WantedRange,
} from '../../index/range.ts';
import type { Parameter } from '../../index/registry.ts';
import type { Span } from '../../index/span.ts';
import { InvalidFilter, type Looked } from './wanted.ts';

/** R4 date, number and quantity search, with prefixes. */
export function rangeFilter(parameter: Parameter, values: readonly string[]): Looked {
  const wanted = values.map((text) => parseRange(parameter, text));
  const rangesOf = parameter.type === 'date' ? datesOf : numbersOf;
  const matches: Looked['matches'] = (found) =>
    found.some((value) =>
      wanted.some(
        ({ range, unit }) =>
          (!unit || matchesUnit(value, unit)) && rangesOf(value).some((one) => matchesRange(one, range)),
      ),
    );
  // An item does not tell of units.
  const proves: Looked['proves'] = (bucket, sort) =>
    wanted.some(
      ({ range, unit }) =>
        unit?.system === undefined && unit?.code === undefined && provesRange(range, bucket, sort),
    );
  const [only] = wanted;
  if (wanted.length === 1 && only) {
    return { matches, spans: jointSpans(parameter, [only.range]), range: only.range, proves };
  }
  const all = wanted.map(({ range }) => jointSpans(parameter, [range]));
  const spans = all.every((one) => one !== undefined) ? all.flat() : undefined;
  return { matches, spans, alternatives: wanted.length, proves };
}

/** Where all hits of several range filters of one parameter are. */
export function jointSpans(
  parameter: Parameter,
  ranges: readonly WantedRange[],
): readonly Span[] | undefined {
  if (parameter.type !== 'date') return rangeSpans(ranges, (bound) => bound);
  const areInstants = parameter.paths.every(({ type }) => type === 'instant');
  return rangeSpans(ranges, areInstants ? secondBefore : dayBefore);
}

function parseRange(parameter: Parameter, text: string): { range: WantedRange; unit?: WantedUnit } {
  const found = prefixes.find((one) => text.startsWith(one));
  const prefix = found ?? 'eq';
  const rest = found ? text.slice(found.length) : text;
  const [value = '', system, code] = splitValue(rest, '|').map(unescapeValue);
  const bounds: Range | undefined = parameter.type === 'date' ? parseDate(rest) : parseNumber(value, prefix);
  if (!bounds) throw new InvalidFilter(`${unescapeValue(text)} is not a ${parameter.type}`);
  const range = { prefix, ...bounds };
  return parameter.type === 'quantity' ? { range, unit: { system, code } } : { range };
}
