import type { Resource } from '../fhir/resource.ts';
import { unescapeValue } from '../index/escape.ts';
import { partOf } from '../index/name-part.ts';
import { sortOf } from '../index/places.ts';
import type { Parameter } from '../index/registry.ts';
import { type Stretch, stretchesOf } from '../index/span.ts';
import { hasWords, normaliseText, provesText, textMatcher, textSpans, wordsOf } from '../index/text.ts';
import { matchesUri, provesUri, uriSpans } from '../index/uri.ts';
import { type Value, valuesOf } from '../index/value.ts';
import { longestSearchValue } from '../limits.ts';
import { rangeFilter } from './kinds/range-filter.ts';
import { referenceFilter } from './kinds/reference-filter.ts';
import { tokenFilter } from './kinds/token-filter.ts';
import { InvalidFilter, type Looked, requireModifier } from './kinds/wanted.ts';

/** One condition of a search, ready to be matched and to be looked up. */
export interface Filter {
  /** By which a cursor knows it. */
  name: string;
  matches(resource: Resource): boolean;
  /** Where all of its hits are indexed; undefined when the index does not help. */
  stretches: readonly Stretch[] | undefined;
  /** How few hits it promises; the lowest is looked up. */
  rank: number;
  /** What it looks at. */
  parameters: readonly Parameter[];
  /** How many comparisons a value of a resource takes. */
  alternatives: number;
  /** For dates and numbers: what is asked, so that two bounds of one parameter narrow one look-up. */
  range?: Looked['range'];
  /** Whether an index item of its stretches alone shows that its resource is a hit. */
  proves?: (stretch: Stretch, sk: string) => boolean;
  /** For references without a modifier: those of which one is asked. */
  references?: readonly string[];
}

/** What a search may list between commas: each is a look-up of its own, of an id a read. */
const mostAlternatives = 200;
const mostIds = 1000;
/** Words of one searched text: each is looked for among the words of a name or address. */
const mostWords = 20;

/**
 * @param values the alternatives between commas, still escaped
 * @throws {InvalidFilter} when a value or modifier does not fit the parameter
 */
export function createFilter(
  parameter: Parameter,
  modifier: string | undefined,
  values: readonly string[],
): Filter {
  const { code, index, within } = parameter;
  const most = code === '_id' ? mostIds : mostAlternatives;
  if (values.length > most) throw new InvalidFilter(`${code} has more than ${most} values`);
  if (values.some((value) => value.length > longestSearchValue)) {
    throw new InvalidFilter(`A value of ${code} is longer than ${longestSearchValue} characters`);
  }
  const looked = look(parameter, modifier, values);
  const { matches, spans, range } = looked;
  const at = code === '_id' ? code : index;
  return {
    name: `${code}:${modifier ?? ''}=${values.join()}`,
    parameters: [parameter],
    matches: (resource) => matches(valuesOf(resource, parameter)),
    stretches: spans && at !== undefined ? stretchesOf(at, spans) : undefined,
    rank: rankOf(parameter, range?.prefix === 'eq'),
    alternatives: looked.alternatives ?? 1,
    ...(range ? { range } : {}),
    ...(looked.proves && !within ? { proves: proofIn(index, looked.proves) } : {}),
    ...(parameter.type === 'reference' && modifier === undefined
      ? { references: values.map(unescapeValue) }
      : {}),
  };
}

/** What lies within another parameter's values shares its items: they do not tell what is of which. */
function proofIn(index: string | undefined, proves: NonNullable<Looked['proves']>) {
  return (stretch: Stretch, sk: string) => stretch.index === index && proves(stretch.bucket, sortOf(sk));
}

function look(parameter: Parameter, modifier: string | undefined, values: readonly string[]): Looked {
  if (modifier === 'missing') return missingFilter(parameter, values);
  switch (parameter.type) {
    case 'token':
      return tokenFilter(parameter, modifier, values);
    case 'string':
      return stringFilter(parameter, modifier, values);
    case 'reference':
      return referenceFilter(parameter, modifier, values);
    case 'uri':
      return uriFilter(parameter, modifier, values);
    default:
      requireModifier(parameter.type, parameter, modifier);
      return rangeFilter(parameter, values);
  }
}

function stringFilter(parameter: Parameter, modifier: string | undefined, values: readonly string[]): Looked {
  const how = requireModifier('string', parameter, modifier);
  const texts = values.map(unescapeValue);
  // What lies within a name is indexed with it, word by word.
  const hasParts = parameter.paths.some(hasWords) || parameter.within === true;
  const words = texts.map((text) => (hasParts ? wordsOf(text).length : 1));
  if (words.some((count) => count > mostWords)) {
    throw new InvalidFilter(`A value of ${parameter.code} has more than ${mostWords} words`);
  }
  const isWanted = textMatcher(texts, how);
  const leads = (text: string) => (hasParts ? wordsOf(text).length > 0 : text !== '');
  const isNamed = parameter.paths.some(({ type }) => type === 'HumanName');
  const usable = how !== 'contains' && texts.every((text) => leads(normaliseText(text)));
  return {
    matches: (found) => found.some(isWanted),
    spans: usable ? textSpans(texts, hasParts, parameter.within && partOf(parameter)) : undefined,
    alternatives: words.reduce((sum, count) => sum + count, 0),
    // Items of names that earlier releases wrote do not tell of parts, and may be left over.
    ...(how === undefined
      ? { proves: (_, sort) => (!isNamed || /#[fgx]+$/.test(sort)) && provesText(texts, hasParts, sort) }
      : {}),
  };
}

function uriFilter(parameter: Parameter, modifier: string | undefined, values: readonly string[]): Looked {
  const how = requireModifier('uri', parameter, modifier);
  const uris = values.map(unescapeValue);
  return {
    matches: (found) => found.some((value) => uris.some((uri) => matchesUri(value, uri, how))),
    spans: how ? undefined : uriSpans(uris),
    ...(how ? {} : { proves: (bucket: string) => provesUri(uris, bucket) }),
    alternatives: uris.length,
  };
}

function missingFilter({ code }: Parameter, values: readonly string[]): Looked {
  const [value] = values;
  if (values.length !== 1 || (value !== 'true' && value !== 'false')) {
    throw new InvalidFilter(`${code}:missing must be true or false`);
  }
  const isMissing = (found: readonly Value[]) => found.length === 0;
  return { matches: (found) => isMissing(found) === (value === 'true'), spans: undefined };
}

/** By the kind of parameter: an id, an identifier, a reference, … a flag. */
function rankOf({ code, type, paths }: Parameter, isPoint: boolean): number {
  if (code === '_id') return 0;
  if (code === '_lastUpdated') return 9;
  if (type === 'token') {
    if (paths.every(({ type }) => type === 'code' || type === 'boolean' || type === '$deceased')) return 8;
    return code === 'identifier' ? 1 : 4;
  }
  if (type === 'reference' || type === 'uri') return 2;
  if (type === 'string') return 3;
  return isPoint ? 5 : 7;
}

export function matchesAll(resource: Resource, filters: readonly Filter[]): boolean {
  return filters.every((filter) => filter.matches(resource));
}
