import { linksIn, relinked } from '../../functions/resources/bundle/links.ts';
import { isObject } from '../../shared/fields-of.ts';

/** What a name of the data set stands for in the service, as `Type/id`; undefined when it is none. */
export type Resolve = (name: string) => string | undefined;

/**
 * A resource in which every link to another one of the data set names it as it is stored: references, other
 * elements that hold a URL, links of the narrative. What is no name of the data set stays as it is.
 * @returns beside it each reference into the data set, or with a condition, that nothing was found for
 */
export function rewriteReferences<T>(resource: T, resolve: Resolve): { resource: T; missed: string[] } {
  // A version of the source is none of the copy.
  const found = (link: string) => resolve(link) ?? resolve(link.replace(/\/_history\/[^/]+$/, ''));
  const known = new Map<string, string>();
  for (const link of linksIn(resource)) {
    const target = found(link);
    if (target !== undefined) known.set(link, target);
  }
  const isElsewhere = /^(?:https?:|#)/i;
  const missed = [...referencesIn(resource)].filter((name) => !known.has(name) && !isElsewhere.test(name));
  return { resource: relinked(resource, known), missed };
}

/** Literal references, each once. */
function referencesIn(value: unknown, references = new Set<string>()): Set<string> {
  if (!isObject(value)) return references;
  const { reference } = value;
  if (typeof reference === 'string') references.add(reference);
  for (const part of Object.values(value)) referencesIn(part, references);
  return references;
}
