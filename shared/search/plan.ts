import type { Resource } from '../fhir/resource.ts';
import { placesIn, sortKeyOf } from '../index/places.ts';
import type { Parameter } from '../index/registry.ts';
import { isInside, nameOfStretch, type Stretch, shards, stretchesOf } from '../index/span.ts';
import type { Filter } from './filter.ts';
import { jointSpans } from './kinds/range-filter.ts';

/** Where all hits of a search can be found; every candidate is matched against its resource afterwards. */
export interface Source {
  /** By which a cursor knows it. */
  name: string;
  stretches: readonly Stretch[];
  /** How few candidates it promises; the lowest is the best. */
  rank: number;
}

/** The look-ups that the filters of a search allow, the most promising first. */
export function sourcesOf(filters: readonly Filter[]): Source[] {
  const sources = filters.flatMap((filter): Source[] => {
    const { name, rank } = filter;
    const [parameter] = filter.parameters;
    if (parameter?.code === '_lastUpdated') return [];
    const joint = parameter && filter.range ? jointStretches(parameter, filters) : undefined;
    if (joint) return [{ name: `joint ${parameter?.code}`, stretches: joint, rank: Math.min(rank, 5) }];
    return filter.stretches ? [{ name, stretches: filter.stretches, rank }] : [];
  });
  const distinct = new Map(sources.map((source) => [source.name, source]));
  return [...distinct.values()].sort((a, b) => a.rank - b.rank);
}

/**
 * Two bounds of one date narrow one look-up; undefined when there is but one. Of several values each
 * bound may be met by another.
 */
function jointStretches(parameter: Parameter, filters: readonly Filter[]): Stretch[] | undefined {
  if (parameter.repeats) return undefined;
  const ranges = filters.flatMap((filter) =>
    filter.parameters[0] === parameter && filter.range ? [filter.range] : [],
  );
  const spans = ranges.length > 1 ? jointSpans(parameter, ranges) : undefined;
  return spans && parameter.index !== undefined ? stretchesOf(parameter.index, spans) : undefined;
}

/**
 * Every value of a date, number or quantity by its low bound, inside the bounds that the search sets
 * to it. `wide` is where values are that begin before those bounds and reach into them.
 */
export function orderedStretches(
  parameter: Parameter,
  filters: readonly Filter[],
): { stretches: Stretch[]; wide: Stretch[] } {
  const index = parameter.index ?? parameter.code;
  const ranges = filters.flatMap((filter) =>
    filter.parameters[0] === parameter && filter.range ? [filter.range] : [],
  );
  const isBound = ranges.length === 1 || (ranges.length > 1 && !parameter.repeats);
  const bounded = isBound ? jointSpans(parameter, ranges) : undefined;
  const all = Array.from({ length: shards }, (_, shard) => ({ bucket: `S${shard}` }));
  const stretches = stretchesOf(index, bounded ?? all);
  return {
    stretches: stretches.filter(({ bucket }) => bucket.startsWith('S')),
    wide: stretches.filter(({ bucket }) => bucket.startsWith('E')),
  };
}

/** How candidates come: stretch after stretch, or all stretches as one list. */
export type Order = 'in turn' | 'ascending' | 'descending';

/**
 * Where a resource first turns up in a reading: candidates at any later place are repeats of it, and a
 * candidate at a place that its resource no longer has is left over from an earlier state.
 */
export function firstPlace(
  stretches: readonly Stretch[],
  resource: Resource,
  order: Order,
): { stretch: string; sk: string } | undefined {
  const indexes = new Set(stretches.map(({ index }) => index));
  const places = [...indexes].flatMap((index) =>
    placesIn(index, resource).flatMap((place) => {
      const sk = sortKeyOf(place, resource.id);
      return stretches
        .filter((stretch) => stretch.index === index && isInside(stretch, place.bucket, sk))
        .map((stretch) => ({ stretch: nameOfStretch(stretch), sk }));
    }),
  );
  const direction = order === 'descending' ? -1 : 1;
  return places.sort((a, b) =>
    order === 'in turn'
      ? compare(a.stretch, b.stretch) || compare(a.sk, b.sk)
      : direction * (compare(a.sk, b.sk) || compare(a.stretch, b.stretch)),
  )[0];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
