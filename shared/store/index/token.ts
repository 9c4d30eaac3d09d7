import { invalidField } from '../../base/refusal.ts';
import {
  type ConditionRequest,
  type ParameterKind,
  requireModifier,
  type ValueCondition,
} from './condition.ts';
import { bucketOf, nearHash } from './key-range.ts';
import { modifiers } from './registry.ts';
import {
  fieldOf,
  listOf,
  normaliseText,
  remembered,
  splitValue,
  textOf,
  unescapeValue,
  type Value,
} from './value.ts';

/** A code in its system, as R4's token search sees it. */
export interface TokenValue {
  system: string | undefined;
  value: string | undefined;
  /** What `:text` looks at. */
  text: string | undefined;
  /** A plain code, whose system follows from the element: any system in the search is right. */
  implied?: boolean;
  /** Identifiers and ids: another case is another one. */
  exact?: boolean;
}

/** `system` undefined means any, the empty string means none. */
type SearchedToken = Pick<TokenValue, 'system' | 'value'>;

/** R4 token search: `system|code`, `|code`, `system|`, `code`, with `:not` and `:text`. */
export const tokenKind: ParameterKind = {
  /**
   * Under its value, whatever the system and case; these stand in the sort key, so that an item alone tells
   * whether its token is the one that is searched.
   */
  entries: (values) =>
    values.flatMap((one) =>
      tokensOf(one).flatMap(({ system = '', value, implied, exact }) => {
        if (value === undefined || value === usualValues[one.type]) return [];
        const bucket = tokenBucket(value);
        if (implied) return [{ bucket }];
        const sort = exact ? `x${nearHash(value)}${nearHash(system)}` : `c${nearHash(system)}`;
        return [{ bucket, sort }];
      }),
    ),
  condition(asked) {
    const modifier: 'not' | 'text' | undefined = requireModifier(modifiers.token, asked);
    if (modifier === 'text') return textCondition(asked);
    const codes = codeCondition(asked);
    if (modifier !== 'not') return codes;
    const { matches, alternatives = 1 } = codes;
    return { matches: (values) => !matches(values), alternatives };
  },
  sortTexts: (values) => tokensIn(values).flatMap(({ value }) => value?.toLowerCase() ?? []),
};

export function tokensOf({ type, value }: Value): TokenValue[] {
  switch (type) {
    case 'Identifier':
      return [{ ...tokenOf(value, 'value', textOf(fieldOf(fieldOf(value, 'type'), 'text'))), exact: true }];
    case 'id':
      return [{ ...plain(textOf(value)), exact: true }];
    case 'Coding':
      return [tokenOf(value, 'code', textOf(fieldOf(value, 'display')))];
    case 'ContactPoint':
      return [tokenOf(value, 'value', undefined)];
    case 'CodeableConcept':
      return [
        ...listOf(fieldOf(value, 'coding')).map((one) =>
          tokenOf(one, 'code', textOf(fieldOf(one, 'display'))),
        ),
        { system: undefined, value: undefined, text: textOf(fieldOf(value, 'text')) },
      ];
    case 'type':
      return [plain(String(fieldOf(value, 'reference')).split('/')[0])];
    case '$deceased':
      return [plain(String(isDeceased(value)))];
    default:
      return [plain(typeof value === 'boolean' ? String(value) : textOf(value))];
  }
}

/** @param text one alternative of a search value */
export function parseToken(text: string): SearchedToken {
  const [first = '', second] = splitValue(text, '|', 2).map(unescapeValue);
  if (second === undefined) return { system: undefined, value: first || undefined };
  return { system: first, value: second || undefined };
}

/**
 * R4 token search: codes are compared without regard to case, systems are URIs and compared exactly.
 * Identifiers too: a medical record number that differs by case only is another patient's.
 */
export function tokenMatcher(searched: readonly SearchedToken[]): (token: TokenValue) => boolean {
  const byValue = groupedByValue(searched);
  return (token) => {
    const same = byValue.get(token.value?.toLowerCase() ?? anyValue) ?? [];
    const any = byValue.get(anyValue) ?? [];
    return [...same, ...any].some((one) => isMatched(token, one));
  };
}

const anyValue = '';

/** How many of the searched a token is compared with: those without a value, and those of its value. */
export function mostMatched(searched: readonly SearchedToken[]): number {
  const byValue = groupedByValue(searched);
  const any = byValue.get(anyValue)?.length ?? 0;
  byValue.delete(anyValue);
  return any + Math.max(1, ...[...byValue.values()].map(({ length }) => length));
}

function groupedByValue(searched: readonly SearchedToken[]): Map<string, SearchedToken[]> {
  return Map.groupBy(searched, ({ value }) => value?.toLowerCase() ?? anyValue);
}

function isMatched(token: TokenValue, { system, value }: SearchedToken): boolean {
  if (value !== undefined && token.exact && token.value !== value) return false;
  if (value !== undefined && token.value === undefined) return false;
  if (system === undefined || token.implied) return token.value !== undefined;
  return system === '' ? token.system === undefined : token.system === system;
}

/** Where the index items of a value are, whatever its case. */
export function tokenBucket(value: string): string {
  return bucketOf(value.toLowerCase());
}

function codeCondition({ parameter, name, values }: ConditionRequest): ValueCondition {
  const { code, paths } = parameter;
  const searched = values.map(parseToken);
  if (searched.some(({ system, value }) => value === undefined && !system)) {
    throw invalidField(name, `${code} has no value`);
  }
  const isSearched = tokenMatcher(searched);
  const texts = searched.flatMap(({ value }) => value ?? []);
  // No index item leads to a system alone, or to what nearly all have.
  const usual = usualValues[paths[0]?.type ?? ''];
  const isLed = texts.length === searched.length && !texts.some((text) => text.toLowerCase() === usual);
  const buckets = code === '_id' ? new Set(texts) : isLed ? texts.map(tokenBucket) : undefined;
  const isPlain = paths.every(({ type }) => plainTypes.has(type));
  return {
    matches: (found) => tokensIn(found).some(isSearched),
    alternatives: mostMatched(searched),
    ranges: buckets && [...buckets].map((bucket) => ({ bucket })),
    proves: proofOf(searched, isPlain),
  };
}

/** Whether an item shows that a code is one of those searched. What they hash to is made when it is first asked for. */
function proofOf(
  searched: readonly SearchedToken[],
  isPlain: boolean,
): NonNullable<ValueCondition['proves']> {
  let byBucket: Map<string, { isAny: boolean; coded: string; exact: string }[]> | undefined;
  const hashed = () =>
    searched.flatMap(({ system, value }) => {
      if (value === undefined) return [];
      const near = system === undefined ? '' : nearHash(system);
      const exact = `x${nearHash(value)}${near}`;
      return [{ bucket: tokenBucket(value), isAny: system === undefined, coded: `c${near}`, exact }];
    });
  return (bucket, sort) => {
    byBucket ??= Map.groupBy(hashed(), (one) => one.bucket);
    return (byBucket.get(bucket) ?? []).some(({ isAny, coded, exact }) => {
      // Items of earlier releases do not tell of the system.
      if (sort === '') return isPlain;
      const form = sort.startsWith('c') ? coded : exact;
      return isAny ? sort.startsWith(form) : sort === form;
    });
  };
}

/** R4 `:text`: the text or display of the code begins so. */
function textCondition({ values }: ConditionRequest): ValueCondition {
  const searched = values.map((text) => normaliseText(unescapeValue(text)));
  const isFound = (text: string) => searched.some((one) => text.startsWith(one));
  return { matches: (found) => normalTextsIn(found).some(isFound), alternatives: searched.length };
}

const tokensIn = remembered((values: readonly Value[]) => values.flatMap(tokensOf));
const normalTextsIn = remembered((values: readonly Value[]) =>
  tokensIn(values).flatMap(({ text }) => (text === undefined ? [] : normaliseText(text))),
);

/** Of these, any system in the search is right. */
const plainTypes: ReadonlySet<string> = new Set(['code', 'boolean', 'string', 'uri', '$deceased']);

/** What nearly every resource has: an index item for it would lead from one value to all of them. */
const usualValues: Readonly<Record<string, string>> = { $deceased: 'false' };

function tokenOf(from: unknown, valueField: string, text: string | undefined): TokenValue {
  return { system: textOf(fieldOf(from, 'system')), value: textOf(fieldOf(from, valueField)), text };
}

function plain(value: string | undefined): TokenValue {
  return { system: undefined, value, text: value, implied: true };
}

/** R4 Patient.deceased: `deceased.exists() and deceased != false`. */
function isDeceased(patient: unknown): boolean {
  return fieldOf(patient, 'deceasedBoolean') === true || fieldOf(patient, 'deceasedDateTime') !== undefined;
}
