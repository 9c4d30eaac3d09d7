import { lastUpdatedOf } from '../index/registry.ts';
import type { Stretch } from '../index/span.ts';
import { Refusal } from '../refusal.ts';
import { countIn } from '../store/candidates.ts';
import { countProven, provingStretches } from './count-proven.ts';
import { findHits } from './find-hits.ts';
import type { Search } from './hit.ts';
import { mostOpened } from './most-opened.ts';
import { orderedStretches, sourcesOf } from './plan.ts';

/** Resources that a count may look at; what the whole request may cost ends it before. */
const mostCounted = 10_000;
/** So few are looked at where an estimate is enough. */
const mostForEstimate = 500;
/** Conditions of which the one that fewest match is taken. */
const mostCompared = 3;

/**
 * How many hits there are: by index items alone where these show it, else each is looked at, as the caller sees it.
 * @throws {Refusal} too-costly
 */
export async function countHits(search: Search, most = mostCounted): Promise<number> {
  const { type, filters } = search;
  const counting: Search = { ...search, sort: [], count: 1000, budget: mostOpened(type, filters, most) };
  const stretches = provingStretches(search);
  if (stretches) return countProven(counting, stretches, most);
  let total = 0;
  for await (const _hit of findHits(counting, undefined)) total++;
  return total;
}

/**
 * The same for a few; of many, how many items of the index the hits are among. For who does not see all of the
 * type it would tell of what is hidden.
 * @returns undefined when that cannot be told either
 */
export async function estimateHits(search: Search): Promise<number | undefined> {
  try {
    return await countHits(search, mostForEstimate);
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'too-costly') throw error;
  }
  const { reader, type } = search;
  if (type === 'AuditEvent' || !reader.seesAll?.(type)) return undefined;
  const counts: number[] = [];
  for (const stretches of stretchesOf(search)) {
    counts.push(await countIn({ table: reader.table, project: reader.project, type }, stretches));
  }
  return counts.length > 0 ? Math.min(...counts) : undefined;
}

/** Where all hits are, in up to three ways. */
function stretchesOf({ type, filters }: Search): (readonly Stretch[])[] {
  if (filters.length > 0)
    return sourcesOf(filters)
      .slice(0, mostCompared)
      .map(({ stretches }) => stretches);
  const everything = lastUpdatedOf(type);
  return [orderedStretches(everything, []).stretches];
}
