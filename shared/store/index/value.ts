import type { Resource } from '../../base/resource.ts';
import { isObject, normalised } from '../../base/values.ts';
import type { ParameterPath, ParameterStep, SearchParameter } from './registry.ts';

/** A value of a resource that a search parameter sees. */
export interface Value {
  /** Its FHIR data type. */
  type: string;
  value: unknown;
  /** For references: only one to this type counts. */
  target: string | undefined;
}

/** What is worked out once of each: several conditions look at a resource and its values, which do not change meanwhile. */
export function remembered<Of extends object, T>(workOut: (of: Of) => T): (of: Of) => T {
  const known = new WeakMap<Of, T>();
  return (of) => {
    const found = known.get(of) ?? workOut(of);
    known.set(of, found);
    return found;
  };
}

const valuesBy = remembered((_: Resource) => new Map<SearchParameter, readonly Value[]>());

/** All values of a resource that the parameter sees. */
export function valuesOf(resource: Resource, parameter: SearchParameter): readonly Value[] {
  const known = valuesBy(resource);
  const values = known.get(parameter) ?? parameter.paths.flatMap((path) => walk(resource, path));
  known.set(parameter, values);
  return values;
}

function walk(resource: Resource, { steps, type, target }: ParameterPath): Value[] {
  let found: unknown[] = [resource];
  for (const step of steps) found = found.flatMap((value) => advance(value, step));
  return found.map((value) => ({ type, value, target }));
}

function advance(from: unknown, { element, at, where }: ParameterStep): unknown[] {
  const all = listOf(fieldOf(from, element));
  if (at !== undefined) return all.slice(at, at + 1);
  const chosen = where ? all.filter((value) => fieldOf(value, where.name) === where.value) : all;
  return chosen.filter((value) => value !== null && value !== undefined);
}

/** An own field of an object; undefined for everything else. */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Visits every object and list in a value, those that hold others first. @param at its place, as FHIR writes it */
export function eachPart(
  value: unknown,
  visit: (part: Record<string, unknown>, at: string) => void,
  at = '',
): void {
  if (!isObject(value)) return;
  visit(value, at);
  for (const [name, part] of Object.entries(value)) {
    if (isObject(part)) eachPart(part, visit, Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`);
  }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function listOf(value: unknown): unknown[] {
  return [value ?? []].flat();
}

/**
 * Cuts a search value at a separator, except where a backslash stands before it (R4 search, escaping).
 * @param most how many pieces at most; the last keeps the rest
 * @returns the pieces, still escaped
 */
export function splitValue(
  text: string,
  separator: ',' | '|' | '$',
  most = Number.POSITIVE_INFINITY,
): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length && pieces.length < most - 1; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === separator) {
      pieces.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

/** R4 search, escaping: `\,` `\|` `\$` and `\\` stand for themselves. */
export function unescapeValue(text: string): string {
  return text.replace(/\\([,|$\\])/g, '$1');
}

/** A text as a search value that means just it. */
export function escapeValue(text: string): string {
  return text.replace(/[,|$\\]/g, '\\$&');
}

/** What is behind so many characters of a text, no search finds: each of its conditions looks at all of it. */
const longestSearched = 10_000;

/**
 * R4 string search: without regard to case, accents and width of spaces. A sigma is one letter wherever it
 * stands: `toLowerCase` writes the last of a word in another way, so the beginning of a name would not be found.
 */
export function normaliseText(text: string): string {
  return withFinalSigma(text).replaceAll('ς', 'σ');
}

/** The form that texts of earlier index items have. */
export function withFinalSigma(text: string): string {
  // What is cut within a character loses the half of it, which no key of the table can hold.
  const searched = text.slice(0, longestSearched).replace(/[\ud800-\udbff]$/, '');
  return normalised(searched.replace(/\p{M}+/gu, ''), 'NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}
