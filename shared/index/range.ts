import { type Place, type Span, shardOf, shards } from './span.ts';

/** Bounds of a value, both inside it, as texts that sort as the values do. */
export interface Range {
  low: string;
  high: string;
}

export const prefixes = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'] as const;
export type Prefix = (typeof prefixes)[number];

export interface WantedRange extends Range {
  prefix: Prefix;
}

/** R4 search, prefixes. */
export function matchesRange(value: Range, wanted: WantedRange): boolean {
  switch (wanted.prefix) {
    case 'eq':
      return wanted.low <= value.low && value.high <= wanted.high;
    case 'ne':
      return value.low < wanted.low || wanted.high < value.high;
    case 'gt':
      return value.high > wanted.high;
    case 'ge':
      return value.high >= wanted.low;
    case 'lt':
      return value.low < wanted.low;
    case 'le':
      return value.low <= wanted.high;
    case 'sa':
      return value.low > wanted.high;
    case 'eb':
      return value.high < wanted.low;
    case 'ap':
      return value.low <= wanted.high && wanted.low <= value.high;
  }
}

/**
 * Whether the place of a value alone shows that it matches: it tells one of its bounds.
 * @param sort the low bound in a bucket `S`, the high one in `E`
 */
export function provesRange({ prefix, low, high }: WantedRange, bucket: string, sort: string): boolean {
  if (bucket.startsWith('E')) {
    return (
      (prefix === 'ge' && sort >= low) || (prefix === 'gt' && sort > high) || (prefix === 'eb' && sort < low)
    );
  }
  switch (prefix) {
    case 'ge':
      return sort >= low;
    case 'gt':
    case 'sa':
      return sort > high;
    case 'le':
      return sort <= high;
    case 'lt':
      return sort < low;
    case 'ap':
      return low <= sort && sort <= high;
    default:
      return false;
  }
}

/**
 * Every value has an item by its low bound (`S`). A value too wide for `slack` has one more by its
 * high bound (`E`), so that a search for "ends after" need not start at the beginning of time.
 */
export function rangePlaces(
  ranges: readonly Range[],
  id: string,
  isNarrow: (range: Range) => boolean,
): Place[] {
  const shard = shardOf(id);
  return ranges.flatMap((range) => [
    { bucket: `S${shard}`, sort: range.low },
    ...(isNarrow(range) ? [] : [{ bucket: `E${shard}`, sort: range.high }]),
  ]);
}

/**
 * Where all values are that match every one of `wanted`.
 * @param slacken the bound below which no narrow value that reaches the given one begins
 * @returns undefined when only `ne` is asked: everything but a little
 */
export function rangeSpans(
  wanted: readonly WantedRange[],
  slacken: (bound: string) => string,
): Span[] | undefined {
  let from: string | undefined;
  let to: string | undefined;
  let reaching: string | undefined;
  const raise = (bound: string) => {
    if (from === undefined || bound > from) from = bound;
  };
  const lower = (bound: string) => {
    if (to === undefined || bound < to) to = bound;
  };
  for (const { prefix, low, high } of wanted) {
    if (prefix === 'eq' || prefix === 'sa') raise(prefix === 'eq' ? low : high);
    if (prefix === 'gt' || prefix === 'ge' || prefix === 'ap') {
      const bound = prefix === 'gt' ? high : low;
      raise(slacken(bound));
      if (reaching === undefined || bound > reaching) reaching = bound;
    }
    if (prefix === 'lt' || prefix === 'eb') lower(low);
    if (prefix === 'eq' || prefix === 'le' || prefix === 'ap') lower(high);
  }
  if (from === undefined && to === undefined) return undefined;
  const isEmpty = from !== undefined && to !== undefined && from > to;
  return Array.from({ length: shards }, (_, shard) => shard).flatMap((shard) => [
    ...(isEmpty ? [] : [{ bucket: `S${shard}`, ...bounds(from, to) }]),
    ...(reaching === undefined ? [] : [{ bucket: `E${shard}`, ...bounds(reaching, undefined) }]),
  ]);
}

/** `~` sorts after the `#` that ends a value in a sort key, and after every character of an id. */
function bounds(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to: `${to}~` }) };
}
