import type { Place, Span } from './span.ts';
import { fieldOf, listOf, textOf, type Value } from './value.ts';

/** Only this much of a text is in its sort key; the rest is matched against the resource. */
const indexedCharacters = 100;

/** R4 string search: without regard to case, accents and width of spaces. */
export function normaliseText(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** The texts of a value: one for a plain string, each part of a name or address. */
export function textsOf({ type, value }: Value): string[] {
  const parts = type === 'HumanName' ? nameParts : type === 'Address' ? addressParts : undefined;
  const found = parts ? parts.flatMap((part) => listOf(fieldOf(value, part))) : [value];
  return found.flatMap((text) => textOf(text) ?? []);
}

/** Names and addresses are searched word by word, so that `given family` in one value finds both. */
export function hasWords(values: { type: string }): boolean {
  return values.type === 'HumanName' || values.type === 'Address';
}

export function matchesText(value: Value, wanted: string, modifier: string | undefined): boolean {
  const texts = textsOf(value);
  if (modifier === 'exact') return texts.includes(wanted);
  const sought = normaliseText(wanted);
  const normal = texts.map(normaliseText);
  if (modifier === 'contains') return normal.some((text) => text.includes(sought));
  if (normal.some((text) => text.startsWith(sought))) return true;
  if (!hasWords(value)) return false;
  const words = normal.flatMap(wordsOf);
  return wordsOf(sought).every((part) => words.some((word) => word.startsWith(part)));
}

export function textPlaces(values: readonly Value[]): Place[] {
  const texts = values.flatMap((value) => {
    const normal = textsOf(value).map(normaliseText);
    return hasWords(value) ? normal.flatMap(wordsOf) : normal;
  });
  return texts.filter((text) => text !== '').map((text) => ({ bucket: initialOf(text), sort: cut(text) }));
}

/** @param words whether the parameter looks at names or addresses */
export function textSpans(wanted: readonly string[], words: boolean): Span[] {
  return wanted.map((text) => {
    const normal = normaliseText(text);
    const sought = words ? (wordsOf(normal).sort((a, b) => b.length - a.length)[0] ?? '') : normal;
    return { bucket: initialOf(sought), prefix: cut(sought) };
  });
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** The partition of a text: by its first letter, so that a prefix of any length leads to it. */
function initialOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}

function cut(text: string): string {
  return [...text].slice(0, indexedCharacters).join('');
}

const nameParts = ['family', 'given', 'prefix', 'suffix', 'text'];
const addressParts = ['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'];
