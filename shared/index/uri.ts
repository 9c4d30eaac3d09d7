import { bucketOf, type Span } from './span.ts';
import { textOf, type Value } from './value.ts';

/** R4 uri search: exact; `:below` is anything that starts with it, `:above` anything it starts with. */
export function matchesUri(
  { value }: Value,
  wanted: string,
  modifier: 'below' | 'above' | undefined,
): boolean {
  const uri = textOf(value);
  if (uri === undefined) return false;
  if (modifier === 'below') return uri === wanted || uri.startsWith(wanted.replace(/\/?$/, '/'));
  if (modifier === 'above') return uri === wanted || wanted.startsWith(uri.replace(/\/?$/, '/'));
  return uri === wanted || withoutVersion(uri) === wanted;
}

export function uriBuckets(values: readonly Value[]): string[] {
  return values.flatMap(({ value }) => {
    const uri = textOf(value);
    return uri === undefined ? [] : bucketOf(withoutVersion(uri));
  });
}

export function uriSpans(wanted: readonly string[]): Span[] {
  return wanted.map((uri) => ({ bucket: bucketOf(withoutVersion(uri)) }));
}

/** Whether an index item alone shows that its resource has one of the searched URIs: of those without version. */
export function provesUri(wanted: readonly string[], bucket: string): boolean {
  return wanted.some((uri) => uri === withoutVersion(uri) && bucketOf(uri) === bucket);
}

/** A canonical without its `|version`. */
function withoutVersion(uri: string): string {
  return uri.replace(/\|[^|/]*$/, '');
}
