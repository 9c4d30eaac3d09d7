import type { Resource } from '../fhir/resource.ts';
import { datesOf, dayBefore, isNarrowDate, parseDate } from './date.ts';
import { isPoint, matchesUnit, numbersOf, parseNumber, type WantedUnit } from './number.ts';
import { matchesRange, type Prefix, type Range, rangePlaces, rangeSpans, type WantedRange } from './range.ts';
import { matchesReference, referenceBuckets, referenceSpans, referencesOf } from './reference.ts';
import type { Parameter } from './registry.ts';
import type { Place, Span } from './span.ts';
import { hasWords, matchesText, normaliseText, textPlaces, textSpans } from './text.ts';
import { matchesToken, parseToken, tokenBuckets, tokenSpans, tokensOf } from './token.ts';
import { matchesUri, uriBuckets, uriSpans } from './uri.ts';
import { type Value, valuesOf } from './value.ts';

/** One condition of a search, ready to be matched and to be looked up. */
export interface Filter {
  parameter: Parameter;
  modifier: string | undefined;
  matches(resource: Resource): boolean;
  /** Where its hits are indexed; undefined when the index does not help. */
  spans: readonly Span[] | undefined;
  /** For `_id`: the resources themselves. */
  ids?: readonly string[];
  /** For dates and numbers: what is asked, so that two bounds of one parameter narrow one look-up. */
  range?: WantedRange;
}

/** Thrown with a public text when a value does not fit its parameter. */
export class InvalidFilter extends Error {}

/** @param values the alternatives between commas, still escaped */
export function createFilter(
  parameter: Parameter,
  modifier: string | undefined,
  values: readonly string[],
): Filter {
  if (modifier === 'missing') return missingFilter(parameter, values);
  const base = { parameter, modifier };
  const any = (test: (value: Value) => boolean) => (resource: Resource) =>
    valuesOf(resource, parameter).some(test);
  switch (parameter.type) {
    case 'token':
      return { ...base, ...tokenFilter(parameter, modifier, values) };
    case 'string': {
      requireModifier(parameter, modifier, ['exact', 'contains']);
      const texts = values.map(unescapeValue);
      const usable = modifier !== 'contains' && texts.every((text) => normaliseText(text) !== '');
      return {
        ...base,
        matches: any((value) => texts.some((text) => matchesText(value, text, modifier))),
        spans: usable ? textSpans(texts, parameter.paths.some(hasWords)) : undefined,
      };
    }
    case 'reference':
      return { ...base, ...referenceFilter(parameter, modifier, values) };
    case 'uri': {
      requireModifier(parameter, modifier, ['below', 'above']);
      const uris = values.map(unescapeValue);
      return {
        ...base,
        matches: any((value) => uris.some((uri) => matchesUri(value, uri, modifier))),
        spans: modifier ? undefined : uriSpans(uris),
      };
    }
    default:
      requireModifier(parameter, modifier, []);
      return { ...base, ...rangeFilter(parameter, values) };
  }
}

/** The index items of a resource for one parameter. */
export function placesOf(parameter: Parameter, resource: Resource): Place[] {
  const values = valuesOf(resource, parameter);
  const inBuckets = (buckets: readonly string[]) => buckets.map((bucket) => ({ bucket }));
  switch (parameter.type) {
    case 'token':
      return inBuckets(tokenBuckets(values));
    case 'string':
      return textPlaces(values);
    case 'reference':
      return inBuckets(referenceBuckets(values));
    case 'uri':
      return inBuckets(uriBuckets(values));
    case 'date':
      return rangePlaces(values.flatMap(datesOf), resource.id, isNarrowDate);
    default:
      return rangePlaces(values.flatMap(numbersOf), resource.id, isPoint);
  }
}

/** Where all hits of several range filters of one parameter are. */
export function jointSpans(
  parameter: Parameter,
  ranges: readonly WantedRange[],
): readonly Span[] | undefined {
  return rangeSpans(ranges, parameter.type === 'date' ? dayBefore : (bound) => bound);
}

/** R4 search, escaping: `\,` `\|` `\$` and `\\` stand for themselves. */
function unescapeValue(text: string): string {
  return text.replace(/\\([,|$\\])/g, '$1');
}

function tokenFilter(parameter: Parameter, modifier: string | undefined, values: readonly string[]) {
  requireModifier(parameter, modifier, ['not', 'text']);
  if (modifier === 'text') {
    const texts = values.map((text) => normaliseText(unescapeValue(text)));
    const hasText = (resource: Resource) =>
      valuesOf(resource, parameter)
        .flatMap(tokensOf)
        .some(({ text }) => text && texts.some((wanted) => normaliseText(text).startsWith(wanted)));
    return { matches: hasText, spans: undefined };
  }
  const wanted = values.map((text) => parseToken(text, unescapeValue));
  if (wanted.some(({ system, value }) => value === undefined && !system)) throw empty(parameter);
  const matches = (resource: Resource) =>
    valuesOf(resource, parameter)
      .flatMap(tokensOf)
      .some((token) => wanted.some((one) => matchesToken(token, one)));
  if (modifier === 'not') return { matches: (resource: Resource) => !matches(resource), spans: undefined };
  const ids = wanted.flatMap(({ value }) => value ?? []);
  return {
    matches,
    ...(parameter.code === '_id' ? { ids, spans: undefined } : { spans: tokenSpans(wanted) }),
  };
}

function referenceFilter(parameter: Parameter, modifier: string | undefined, values: readonly string[]) {
  if (modifier === 'identifier') {
    const wanted = values.map((text) => parseToken(text, unescapeValue));
    const matches = (resource: Resource) =>
      valuesOf(resource, parameter).some(({ value }) => {
        const identifier = (value as { identifier?: unknown } | null)?.identifier;
        const tokens = tokensOf({ type: 'Identifier', value: identifier, target: undefined });
        return tokens.some((token) => wanted.some((one) => matchesToken(token, one)));
      });
    return { matches, spans: undefined };
  }
  if (modifier && !/^[A-Z][A-Za-z]+$/.test(modifier)) throw unsupported(parameter, modifier);
  const wanted = values.map(unescapeValue);
  if (wanted.some((text) => text === '')) throw empty(parameter);
  return {
    matches: (resource: Resource) =>
      valuesOf(resource, parameter)
        .flatMap(referencesOf)
        .some((reference) => wanted.some((text) => matchesReference(reference, text, modifier))),
    spans: referenceSpans(wanted),
  };
}

function rangeFilter(parameter: Parameter, values: readonly string[]) {
  const wanted = values.map((text) => parseRange(parameter, text));
  const rangesOf = parameter.type === 'date' ? datesOf : numbersOf;
  const matches = (resource: Resource) =>
    valuesOf(resource, parameter).some((value) =>
      wanted.some(
        ({ range, unit }) =>
          (!unit || matchesUnit(value, unit)) && rangesOf(value).some((one) => matchesRange(one, range)),
      ),
    );
  const [only] = wanted;
  if (wanted.length === 1 && only) {
    return { matches, spans: jointSpans(parameter, [only.range]), range: only.range };
  }
  const all = wanted.map(({ range }) => jointSpans(parameter, [range]));
  return { matches, spans: all.includes(undefined) ? undefined : (all.flat() as Span[]) };
}

function parseRange(parameter: Parameter, text: string): { range: WantedRange; unit?: WantedUnit } {
  const [, found, rest = ''] = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(.*)$/s.exec(text) ?? [];
  const prefix = (found ?? 'eq') as Prefix;
  const [value = '', system, code] = rest.split('|').map(unescapeValue);
  const bounds: Range | undefined = parameter.type === 'date' ? parseDate(rest) : parseNumber(value, prefix);
  if (!bounds) throw new InvalidFilter(`${unescapeValue(text)} is not a ${parameter.type}`);
  const range = { prefix, ...bounds };
  return parameter.type === 'quantity' ? { range, unit: { system, code } } : { range };
}

function missingFilter(parameter: Parameter, values: readonly string[]): Filter {
  const [value] = values;
  if (values.length !== 1 || (value !== 'true' && value !== 'false')) {
    throw new InvalidFilter(`${parameter.code}:missing must be true or false`);
  }
  const matches = (resource: Resource) => (valuesOf(resource, parameter).length === 0) === (value === 'true');
  return { parameter, modifier: 'missing', matches, spans: undefined };
}

function requireModifier(parameter: Parameter, modifier: string | undefined, known: readonly string[]): void {
  if (modifier !== undefined && !known.includes(modifier)) throw unsupported(parameter, modifier);
}

function unsupported(parameter: Parameter, modifier: string): InvalidFilter {
  return new InvalidFilter(`The modifier :${modifier} is not supported for ${parameter.code}`);
}

function empty(parameter: Parameter): InvalidFilter {
  return new InvalidFilter(`${parameter.code} has no value`);
}
