import { invalidField } from '../../base/refusal.ts';
import { type ParameterKind, requireModifier } from './condition.ts';
import { type BucketRange, type IndexEntry, type NamePart, wordOfParts } from './key-range.ts';
import { modifiers, type SearchParameter } from './registry.ts';
import {
  fieldOf,
  listOf,
  normaliseText,
  remembered,
  textOf,
  unescapeValue,
  type Value,
  withFinalSigma,
} from './value.ts';

/** Only this much of a text is in its sort key; the rest is matched against the resource. */
const indexedCharacters = 100;
/** Words of one searched text: each is looked for among the words of a name or address. */
const mostWords = 20;

/**
 * R4 string search: names and addresses are searched word by word, so that `given family` in one value finds both;
 * with `:exact` and `:contains`.
 */
export const stringKind: ParameterKind = {
  /** Of names and addresses word by word, each word of a name once. */
  entries(values) {
    const texts = values.flatMap((value) => {
      if (value.type === 'HumanName') return [];
      const normal = normalOf(value);
      return hasWords(value) ? normal.words : normal.texts;
    });
    const named = [...partsOfWords(values, normaliseText)].map(([word, parts]) => entryOfWord(word, parts));
    return [...texts.filter((text) => text !== '').map(entryOf), ...named];
  },
  condition(asked) {
    const { parameter, name, values } = asked;
    const modifier: 'exact' | 'contains' | undefined = requireModifier(modifiers.string, asked);
    const texts = values.map(unescapeValue);
    // What lies within a name is indexed with it, word by word.
    const hasParts = parameter.paths.some(hasWords) || parameter.within === true;
    const counts = texts.map((text) => (hasParts ? wordsOf(text).length : 1));
    if (counts.some((count) => count > mostWords)) {
      throw invalidField(name, `A value of ${parameter.code} has more than ${mostWords} words`);
    }
    const normal = texts.map(normaliseText);
    const words = normal.map(wordsOf);
    const isLed = normal.every((text, i) => (hasParts ? words[i]?.length : text));
    const part = parameter.within && partOf(parameter);
    // Items of names that earlier releases wrote do not tell of parts, and may be left over.
    const isNamed = parameter.paths.some(({ type }) => type === 'HumanName');
    // An item that begins with what is searched shows it when that is one word, or the text is indexed whole.
    const whole = normal.filter((text) => text === cut(text) && (!hasParts || wordsOf(text).join() === text));
    const proves = (_: string, sort: string) =>
      (!isNamed || /#[fgx]+$/.test(sort)) && whole.some((text) => sort.startsWith(text));
    const isIndexed = modifier !== 'contains' && isLed;
    return {
      matches: modifier === 'exact' ? exactMatcher(texts) : textMatcher(normal, words, modifier),
      ranges: isIndexed ? normal.map((text) => rangeOf(text, hasParts, part)) : undefined,
      alternatives: (modifier === 'contains' ? normal.map(stepsToFind) : counts).reduce((a, b) => a + b, 0),
      ...(modifier === undefined ? { proves } : {}),
    };
  },
  sortTexts: (values) => normalIn(values).flatMap(({ texts }) => texts.map(cut)),
};

/** To find a text anywhere takes up to its length times that of what is looked through. */
function stepsToFind({ length }: string): number {
  return 1 + Math.floor(length / 9);
}

/** The texts of a value: one for a plain string, each part of a name or address. */
export function textsOf({ type, value }: Value): string[] {
  const parts = type === 'HumanName' ? nameParts : type === 'Address' ? addressParts : undefined;
  const found = parts ? parts.flatMap((part) => listOf(fieldOf(value, part))) : [value];
  return found.flatMap((text) => textOf(text) ?? []);
}

function hasWords({ type }: { type: string }): boolean {
  return type === 'HumanName' || type === 'Address';
}

/** Whether a value has any of the searched texts as they are. */
function exactMatcher(searched: readonly string[]): (found: readonly Value[]) => boolean {
  const exact = new Set(searched);
  return (found) => textsIn(found).some((text) => exact.has(text));
}

/**
 * Whether a value has any of the searched texts, anywhere (`contains`) or at its beginning; in a name or address each
 * word at the beginning of one of its words.
 * @param normal the searched texts, and the words of each
 */
function textMatcher(
  normal: readonly string[],
  normalWords: readonly (readonly string[])[],
  modifier: 'contains' | undefined,
): (found: readonly Value[]) => boolean {
  const isFound = ({ texts, words }: NormalTexts) => {
    if (modifier === 'contains') return normal.some((part) => texts.some((text) => text.includes(part)));
    if (normal.some((part) => texts.some((text) => text.startsWith(part)))) return true;
    return normalWords.some((parts) => parts.every((part) => words.some((word) => word.startsWith(part))));
  };
  return (found) => normalIn(found).some(isFound);
}

const textsIn = remembered((values: readonly Value[]) => values.flatMap(textsOf));
const normalIn = remembered((values: readonly Value[]) => values.map(normalOf));

/** `words`: of names and addresses, each once; none of other texts. */
type NormalTexts = { texts: readonly string[]; words: readonly string[] };

function normalOf(value: Value): NormalTexts {
  const texts = textsOf(value).map(normaliseText);
  return { texts, words: hasWords(value) ? [...new Set(texts.flatMap(wordsOf))] : [] };
}

/**
 * Where texts were in earlier releases: items of names did not tell of parts, and a final sigma was a letter of
 * its own.
 */
export function retiredTextEntries(values: readonly Value[]): IndexEntry[] {
  const named = partsOfWords(values, withFinalSigma);
  const namedAnew = [...named].filter(([word]) => word.includes('ς'));
  const others = values.filter(({ type }) => type !== 'HumanName');
  const texts = others.flatMap((value) => {
    const normal = textsOf(value).map(withFinalSigma);
    return hasWords(value) ? normal.flatMap(wordsOf) : normal;
  });
  return [
    ...[...named.keys()].map(entryOf),
    ...namedAnew.map(([word, parts]) => entryOfWord(word, parts)),
    ...texts.filter((text) => text.includes('ς')).map(entryOf),
  ];
}

function entryOf(text: string): IndexEntry {
  return { bucket: initialOf(text), sort: cut(text) };
}

function entryOfWord(word: string, parts: ReadonlySet<NamePart>): IndexEntry {
  return { bucket: initialOf(word), sort: wordOfParts(word, parts) };
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
        const parts = found.get(cut(word)) ?? new Set();
        found.set(cut(word), parts.add(part));
      }
    }
  }
  return found;
}

/** Of several words the longest is looked up. @param part the only part of names that is asked for */
function rangeOf(normal: string, hasParts: boolean, part: NamePart | undefined): BucketRange {
  const [longest = ''] = hasParts ? wordsOf(normal).sort((a, b) => b.length - a.length) : [normal];
  const range = { bucket: initialOf(longest), prefix: cut(longest) };
  return part === undefined ? range : { ...range, part };
}

/** The part that a parameter looks at, by the last element of its path; undefined when at no one part. */
function partOf({ paths }: SearchParameter): NamePart | undefined {
  const element = paths[0]?.steps.at(-1)?.element;
  return element === 'family' || element === 'given' ? element : undefined;
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
