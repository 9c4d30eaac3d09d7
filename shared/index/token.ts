import { splitValue, unescapeValue } from './escape.ts';
import { bucketOf, nearHash, type Place, type Span } from './span.ts';
import { fieldOf, listOf, textOf, type Value } from './value.ts';

/** A code in its system, as R4's token search sees it. */
export interface Token {
  system: string | undefined;
  value: string | undefined;
  /** What `:text` looks at. */
  text: string | undefined;
  /** A plain code, whose system follows from the element: any system in the search is right. */
  implied?: boolean;
  /** Identifiers and ids: another case is another one. */
  exact?: boolean;
}

/** A searched token: `system` undefined means any, the empty string means none. */
export interface WantedToken {
  system: string | undefined;
  value: string | undefined;
}

export function tokensOf({ type, value }: Value): Token[] {
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

/** @param text one alternative of a search value, `system|code`, `|code`, `system|` or `code` */
export function parseToken(text: string): WantedToken {
  const [first = '', second] = splitValue(text, '|', 2).map(unescapeValue);
  if (second === undefined) return { system: undefined, value: first || undefined };
  return { system: first, value: second || undefined };
}

/**
 * R4 token search: codes are compared without regard to case, systems are URIs and compared exactly.
 * Identifiers too: a medical record number that differs by case only is another patient's.
 */
export function tokenMatcher(wanted: readonly WantedToken[]): (token: Token) => boolean {
  const byValue = new Map<string, WantedToken[]>();
  for (const one of wanted) {
    const name = one.value?.toLowerCase() ?? anyValue;
    byValue.set(name, [...(byValue.get(name) ?? []), one]);
  }
  return (token) => {
    const same = byValue.get(token.value?.toLowerCase() ?? anyValue) ?? [];
    const any = byValue.get(anyValue) ?? [];
    return [...same, ...any].some((one) => matches(token, one));
  };
}

/** No value is empty. */
const anyValue = '';

function matches(token: Token, { system, value }: WantedToken): boolean {
  if (value !== undefined && token.exact && token.value !== value) return false;
  if (value !== undefined && token.value === undefined) return false;
  if (system === undefined || token.implied) return token.value !== undefined;
  return system === '' ? token.system === undefined : token.system === system;
}

/**
 * Where a token's index items are: under its value, whatever the system and case; these stand in the sort key,
 * so that an item alone tells whether its token is the wanted one.
 */
export function tokenPlaces(values: readonly Value[]): Place[] {
  return values.flatMap((one) =>
    tokensOf(one).flatMap((token): Place[] => {
      const { value } = token;
      if (value === undefined || value === usualValues[one.type]) return [];
      const bucket = bucketOf(value.toLowerCase());
      return token.implied ? [{ bucket }] : [{ bucket, sort: sortOf(token) }];
    }),
  );
}

function sortOf({ system = '', value = '', exact }: Token): string {
  return exact ? `x${nearHash(value)}${nearHash(system)}` : `c${nearHash(system)}`;
}

/**
 * Whether an index item alone shows that its resource has one of the searched tokens.
 * @param types the data types that the parameter looks at
 * @param sort what stands before the id in the item's sort key
 */
export function provesToken(
  wanted: readonly WantedToken[],
  types: readonly string[],
  { bucket, sort }: { bucket: string; sort: string },
): boolean {
  return wanted.some(({ system, value }) => {
    if (value === undefined || bucketOf(value.toLowerCase()) !== bucket) return false;
    // Items of earlier releases do not tell of the system.
    if (sort === '') return types.every((type) => plainTypes.has(type));
    if (sort.startsWith('c')) return system === undefined || sort === `c${nearHash(system)}`;
    const exact = `x${nearHash(value)}`;
    return system === undefined ? sort.startsWith(exact) : sort === `${exact}${nearHash(system)}`;
  });
}

/** Of these, any system in the search is right. */
const plainTypes: ReadonlySet<string> = new Set(['code', 'boolean', 'string', 'uri', '$deceased']);

/** What nearly every resource has: an index item for it would lead from one value to all of them. */
const usualValues: Readonly<Record<string, string>> = { $deceased: 'false' };

/**
 * Undefined when only a system is asked for, or what nearly all have: no index item leads to that.
 * @param type the data type that the parameter looks at
 */
export function tokenSpans(wanted: readonly WantedToken[], type?: string): Span[] | undefined {
  const usual = type === undefined ? undefined : usualValues[type];
  if (wanted.some(({ value }) => value === undefined || value.toLowerCase() === usual)) return undefined;
  return wanted.map(({ value = '' }) => ({ bucket: bucketOf(value.toLowerCase()) }));
}

function tokenOf(from: unknown, valueField: string, text: string | undefined): Token {
  return { system: textOf(fieldOf(from, 'system')), value: textOf(fieldOf(from, valueField)), text };
}

function plain(value: string | undefined): Token {
  return { system: undefined, value, text: value, implied: true };
}

/** R4 Patient.deceased: `deceased.exists() and deceased != false`. */
function isDeceased(patient: unknown): boolean {
  return fieldOf(patient, 'deceasedBoolean') === true || fieldOf(patient, 'deceasedDateTime') !== undefined;
}
