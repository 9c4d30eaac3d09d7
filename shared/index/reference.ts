import { bucketOf, nearHash, type Place, type Span } from './span.ts';
import type { Token, WantedToken } from './token.ts';
import { fieldOf, textOf, type Value } from './value.ts';

const literal = /(?:^|\/)([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;

/** The reference as a text without version: `Type/id`, a URL, a canonical, a URN. */
export function referencesOf({ type, value, target }: Value): string[] {
  const text = referenceText(type, value);
  if (text === undefined || text.startsWith('#')) return [];
  const pointed = literal.exec(text)?.[1] ?? textOf(fieldOf(value, 'type'));
  return target !== undefined && pointed !== target ? [] : [withoutVersion(text)];
}

/** @param wanted `Type/id`, `id`, or a whole URL each; @param type from the modifier `:Type` */
export function referenceMatcher(
  wanted: readonly string[],
  type: string | undefined,
): (reference: string) => boolean {
  if (type !== undefined) {
    const typed = new Set(wanted.flatMap((text) => [text, `${type}/${text}`]));
    return (reference) => typed.has(reference);
  }
  const whole = new Set(wanted.map(withoutVersion));
  const ids = new Set(wanted.filter((text) => !text.includes('/')));
  return (reference) => {
    const [, id] = /^[A-Z][A-Za-z]+\/(.*)$/s.exec(reference) ?? [];
    return whole.has(reference) || (id !== undefined && ids.has(id));
  };
}

/** The identifiers by which references name what they point to (R4 `:identifier`). */
export function identifiersOf({ type, value, target }: Value): Token[] {
  const pointed = textOf(fieldOf(value, 'type')) ?? literal.exec(referenceText(type, value) ?? '')?.[1];
  if (target !== undefined && pointed !== undefined && pointed !== target) return [];
  const identifier = fieldOf(value, 'identifier');
  const code = textOf(fieldOf(identifier, 'value'));
  if (code === undefined) return [];
  return [{ system: textOf(fieldOf(identifier, 'system')), value: code, text: undefined, exact: true }];
}

/**
 * Where the index items of references are: under the id alone, so that an id without type finds them,
 * and under the value of an identifier. The whole reference stands in the sort key, so that an item alone tells
 * whether it is the wanted one.
 */
export function referencePlaces(values: readonly Value[]): Place[] {
  return [
    ...values.flatMap(referencesOf).map((text) => ({ bucket: bucketOfReference(text), sort: sortOf(text) })),
    ...values.flatMap(identifiersOf).map(({ value = '' }) => ({ bucket: bucketOfIdentifier(value) })),
  ];
}

function sortOf(reference: string): string {
  return `r${nearHash(reference)}`;
}

/**
 * Whether an index item alone shows that its resource has one of the searched references.
 * @param wanted as `referenceMatcher` takes them, ids too
 * @param targets the types that the parameter is limited to, of each of its paths
 * @param sort what stands before the id in the item's sort key
 */
export function provesReference(
  wanted: readonly string[],
  type: string | undefined,
  targets: readonly (string | undefined)[],
  { bucket, sort }: { bucket: string; sort: string },
): boolean {
  const [target] = targets;
  const only = type ?? (targets.every((one) => one === target) ? target : undefined);
  const texts = wanted.flatMap((text) =>
    text.includes('/') || only === undefined ? [text] : [text, `${only}/${text}`],
  );
  return texts.map(withoutVersion).some((text) => {
    if (bucketOfReference(text) !== bucket || sort !== sortOf(text)) return false;
    const pointed = literal.exec(text)?.[1];
    return targets.every((one) => one === undefined || one === pointed);
  });
}

export function referenceSpans(wanted: readonly string[]): Span[] {
  return wanted.map((text) => ({ bucket: bucketOfReference(withoutVersion(text)) }));
}

/** Undefined when only a system is asked for: no index item leads to that. */
export function identifierSpans(wanted: readonly WantedToken[]): Span[] | undefined {
  if (wanted.some(({ value }) => value === undefined)) return undefined;
  return wanted.map(({ value = '' }) => ({ bucket: bucketOfIdentifier(value) }));
}

function bucketOfIdentifier(value: string): string {
  return bucketOf(`identifier ${value.toLowerCase()}`);
}

function bucketOfReference(reference: string): string {
  return bucketOf(literal.exec(reference)?.[2] ?? reference);
}

function referenceText(type: string, value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (type !== 'Resource') return textOf(fieldOf(value, 'reference'));
  const id = textOf(fieldOf(value, 'id'));
  return id && `${fieldOf(value, 'resourceType')}/${id}`;
}

/** `Type/id/_history/v` and `canonical|version` speak of the same resource as without. */
function withoutVersion(reference: string): string {
  return reference.replace(/\/_history\/[^/]+$/, '').replace(/\|[^|/]*$/, '');
}
