import type { Resource } from '../fhir/resource.ts';
import { type Filter, jointSpans, placesOf } from './filter.ts';
import { parametersOf } from './registry.ts';
import type { SearchRequest } from './search-request.ts';
import { type Span, shards } from './span.ts';

/** How a search finds its candidates; every one is matched against its resource afterwards. */
export type Plan =
  | { kind: 'ids'; ids: readonly string[] }
  | { kind: 'index'; index: string; spans: readonly Span[] }
  | { kind: 'list'; newestFirst: boolean; spans: readonly Span[] };

/** The index that promises the fewest candidates; the list of all by `_lastUpdated` when there is none. */
export function planSearch({ type, filters, sort }: SearchRequest): Plan {
  const ids = filters.find((filter) => filter.ids)?.ids;
  if (ids) return { kind: 'ids', ids: [...new Set(ids)] };
  const best = filters
    .map((filter) => ({ filter, rank: rankOf(filter, filters) }))
    .filter(({ filter }) => filter.spans && filter.parameter.index)
    .sort((a, b) => a.rank - b.rank)[0]?.filter;
  if (best?.parameter.index && best.parameter.code !== '_lastUpdated') {
    return { kind: 'index', index: best.parameter.index, spans: spansOf(best, filters) };
  }
  return listPlan(type, filters, sort !== 'oldest first');
}

/** Every resource of the type by `_lastUpdated`, inside the bounds that the search sets to it. */
export function listPlan(
  type: string,
  filters: readonly Filter[],
  newestFirst: boolean,
): Extract<Plan, { kind: 'list' }> {
  const parameter = parametersOf(type).get('_lastUpdated');
  const ranges = filters.flatMap(({ parameter, range }) =>
    parameter.code === '_lastUpdated' && range ? [range] : [],
  );
  const bounded = parameter && ranges.length > 0 ? jointSpans(parameter, ranges) : undefined;
  const all = Array.from({ length: shards }, (_, shard) => ({ bucket: `S${shard}` }));
  // An instant is never wide: it has no items by its end.
  return {
    kind: 'list',
    newestFirst,
    spans: (bounded ?? all).filter(({ bucket }) => bucket.startsWith('S')),
  };
}

/** Two bounds of one date narrow one look-up. */
function spansOf(best: Filter, filters: readonly Filter[]): readonly Span[] {
  const ranges = filters.flatMap(({ parameter, range }) =>
    parameter === best.parameter && range ? [range] : [],
  );
  return (ranges.length > 1 ? jointSpans(best.parameter, ranges) : undefined) ?? best.spans ?? [];
}

/** Fewest candidates first, by the kind of parameter: an identifier, a reference, … a flag. */
function rankOf({ parameter, range }: Filter, filters: readonly Filter[]): number {
  const isFlag = parameter.paths.every(
    ({ type }) => type === 'code' || type === 'boolean' || type === '$deceased',
  );
  if (parameter.type === 'token') return isFlag ? 8 : parameter.code === 'identifier' ? 0 : 4;
  if (parameter.type === 'reference' || parameter.type === 'uri') return 2;
  if (parameter.type === 'string') return 3;
  const bounds = filters.filter((filter) => filter.parameter === parameter).length;
  return parameter.code === '_lastUpdated' ? 9 : range?.prefix === 'eq' || bounds > 1 ? 5 : 7;
}

/**
 * Where a resource first turns up in a plan: candidates at any later place are repeats of it, and a
 * candidate at a place that its resource no longer has is left over from an earlier state.
 */
export function firstPlace(
  plan: Extract<Plan, { spans: readonly Span[] }>,
  resource: Resource,
): { span: number; sk: string } | undefined {
  const index = plan.kind === 'list' ? '_lastUpdated' : plan.index;
  const places = [...parametersOf(resource.resourceType).values()]
    .filter((parameter) => parameter.index === index)
    .flatMap((parameter) => placesOf(parameter, resource))
    .flatMap(({ bucket, sort }) => {
      const sk = sort === undefined ? resource.id : `${sort}#${resource.id}`;
      const span = plan.spans.findIndex((one) => isInside(one, bucket, sk));
      return span < 0 ? [] : [{ span, sk }];
    });
  return places.sort((a, b) => a.span - b.span || (a.sk < b.sk ? -1 : 1))[0];
}

function isInside({ bucket, prefix, from, to }: Span, at: string, sk: string): boolean {
  if (bucket !== at) return false;
  if (prefix !== undefined) return sk.startsWith(prefix);
  return (from === undefined || sk >= from) && (to === undefined || sk <= to);
}
