/** Which part of a HumanName a word stands in. */
export type NamePart = 'family' | 'given' | 'other';

const letters: Readonly<Record<NamePart, string>> = { family: 'f', given: 'g', other: 'x' };

/**
 * What stands in the sort key of a name's word, before the id: the word, and the parts that it stands in.
 * So one item leads to it from searches for any part.
 */
export function wordOfParts(word: string, parts: ReadonlySet<NamePart>): string {
  return `${word}#${[...parts]
    .map((part) => letters[part])
    .sort()
    .join('')}`;
}

/** Whether the word of an item stands in a part. Items of earlier releases do not say: it may. */
export function isOfPart(sk: string, part: NamePart): boolean {
  const told = /#([fgx]+)#[^#]*$/.exec(sk)?.[1];
  return told === undefined || told.includes(letters[part]);
}

/** The part that a parameter looks at, by the last element of its path; undefined when at no one part. */
export function partOf({ paths }: { paths: readonly { steps: readonly { element: string }[] }[] }) {
  const element = paths[0]?.steps.at(-1)?.element;
  return element === 'family' || element === 'given' ? element : undefined;
}
