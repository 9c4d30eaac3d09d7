import { type NamePart, type Place, type Span, wordOfParts } from './span.ts';
import { fieldOf, listOf, textOf, type Value } from './value.ts';

/** Only this much of a text is in its sort key; the rest is matched against the resource. */
const indexedCharacters = 100;

/**
 * R4 string search: without regard to case, accents and width of spaces. A sigma is one letter wherever it
 * stands: `toLowerCase` writes the last of a word in another way, so the beginning of a name would not be found.
 */
export function normaliseText(text: string): string {
  return withFinalSigma(text).replaceAll('ς', 'σ');
}

/** The form that texts of earlier index items have. */
function withFinalSigma(text: string): string {
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

/**
 * Whether a value has any of the searched texts: as they are (`exact`), anywhere (`contains`), else at its
 * beginning; in a name or address each word at the beginning of one of its words.
 */
export function textMatcher(
  wanted: readonly string[],
  modifier: 'exact' | 'contains' | undefined,
): (value: Value) => boolean {
  if (modifier === 'exact') {
    const exact = new Set(wanted);
    return (value) => textsOf(value).some((text) => exact.has(text));
  }
  const sought = wanted.map(normaliseText);
  const soughtWords = sought.map(wordsOf);
  return (value) => {
    const { texts, words } = normalOf(value);
    if (modifier === 'contains') return sought.some((part) => texts.some((text) => text.includes(part)));
    if (sought.some((part) => texts.some((text) => text.startsWith(part)))) return true;
    return soughtWords.some((parts) => parts.every((part) => words.some((word) => word.startsWith(part))));
  };
}

interface NormalTexts {
  texts: readonly string[];
  /** Of names and addresses, each once; none of other texts. */
  words: readonly string[];
}

const known = new WeakMap<Value, NormalTexts>();

function normalOf(value: Value): NormalTexts {
  const found = known.get(value);
  if (found) return found;
  const texts = textsOf(value).map(normaliseText);
  const normal = { texts, words: hasWords(value) ? [...new Set(texts.flatMap(wordsOf))] : [] };
  known.set(value, normal);
  return normal;
}

/** Where the index items of texts are: of names and addresses word by word, each word of a name once. */
export function textPlaces(values: readonly Value[]): Place[] {
  const texts = values.flatMap((value) => {
    if (value.type === 'HumanName') return [];
    const normal = normalOf(value);
    return hasWords(value) ? normal.words : normal.texts;
  });
  const places = texts.filter((text) => text !== '').map(placeOf);
  const named = [...partsOfWords(values, normaliseText)].map(([word, parts]) => placeOfWord(word, parts));
  return [...places, ...named];
}

function placeOfWord(word: string, parts: ReadonlySet<NamePart>): Place {
  return { bucket: initialOf(word), sort: wordOfParts(word, parts) };
}

/**
 * Where texts were in earlier releases: items of names did not tell of parts, and a final sigma was a letter of
 * its own.
 */
export function retiredTextPlaces(values: readonly Value[]): Place[] {
  const named = partsOfWords(values, withFinalSigma);
  const namedAnew = [...named].filter(([word]) => word.includes('ς'));
  const others = values.filter(({ type }) => type !== 'HumanName');
  const texts = others.flatMap((value) => {
    const normal = textsOf(value).map(withFinalSigma);
    return hasWords(value) ? normal.flatMap(wordsOf) : normal;
  });
  return [
    ...[...named.keys()].map(placeOf),
    ...namedAnew.map(([word, parts]) => placeOfWord(word, parts)),
    ...texts.filter((text) => text.includes('ς')).map(placeOf),
  ];
}

function placeOf(text: string): Place {
  return { bucket: initialOf(text), sort: cut(text) };
}

/** Every word of the names among the values, cut, and the parts of names that it stands in. */
function partsOfWords(
  values: readonly Value[],
  normalise: (text: string) => string,
): Map<string, Set<NamePart>> {
  const found = new Map<string, Set<NamePart>>();
  for (const { type, value } of values) {
    if (type !== 'HumanName') continue;
    for (const element of nameParts) {
      const part: NamePart = element === 'family' || element === 'given' ? element : 'other';
      const texts = listOf(fieldOf(value, element)).flatMap((text) => textOf(text) ?? []);
      for (const word of texts.flatMap((text) => wordsOf(normalise(text)))) {
        const known = found.get(cut(word)) ?? new Set();
        found.set(cut(word), known.add(part));
      }
    }
  }
  return found;
}

/**
 * @param words whether the index holds names or addresses, word by word
 * @param part the only part of names that is asked for
 */
export function textSpans(wanted: readonly string[], words: boolean, part?: NamePart): Span[] {
  return wanted.map((text) => {
    const normal = normaliseText(text);
    const sought = words ? (wordsOf(normal).sort((a, b) => b.length - a.length)[0] ?? '') : normal;
    const span = { bucket: initialOf(sought), prefix: cut(sought) };
    return part === undefined ? span : { ...span, part };
  });
}

/**
 * Whether a text's index item that begins with what is searched alone shows that it matches: when it is one word, or
 * the text is indexed whole.
 * @param words whether the index holds names or addresses, word by word
 */
export function provesText(wanted: readonly string[], words: boolean, sort: string): boolean {
  return wanted.some((text) => {
    const normal = normaliseText(text);
    const isWhole = normal === cut(normal) && (!words || wordsOf(normal).join() === normal);
    return isWhole && sort.startsWith(normal);
  });
}

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** The partition of a text: by its first letter, so that a prefix of any length leads to it. */
function initialOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}

/** As much of a text as is in its sort key. */
export function cut(text: string): string {
  return [...text].slice(0, indexedCharacters).join('');
}

const nameParts = ['family', 'given', 'prefix', 'suffix', 'text'];
const addressParts = ['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'];
