import { type Opened, openInTurn, type TurnPosition } from '../store/candidates.ts';
import { batch } from '../store/heads.ts';
import type { Search } from './hit.ts';
import type { Source } from './plan.ts';

/** More sources are not compared: the first ones promise most. */
const mostCompared = 3;
/** A source of more stretches is not asked ahead. */
const mostStretches = 16;

/** A source, its stretches ready to be read. */
export interface Chosen {
  source: Source;
  opened: readonly Opened[];
}

/**
 * The source with the fewest candidates, its items read `limit` at once. With several to choose from, the first items of each are
 * asked for at once: whichever turns out to be short is taken, else the most promising by its kind.
 */
export async function chooseSource(
  search: Search,
  sources: readonly Source[],
  limit: number,
): Promise<Chosen | undefined> {
  const [best] = sources;
  if (!best) return undefined;
  if (sources.length === 1 || best.rank <= 1) {
    return { source: best, opened: openSource(search, best, limit) };
  }
  const ahead = Math.max(limit, batch);
  const compared = sources
    .filter(({ stretches }) => stretches.length <= mostStretches)
    .slice(0, mostCompared)
    .map((source) => ({ source, opened: openSource(search, source, ahead) }));
  if (!compared.some(({ source }) => source === best)) {
    compared.unshift({ source: best, opened: openSource(search, best, limit) });
  }
  const sizes = await Promise.all(compared.map(({ opened }) => sizeOf(opened, ahead)));
  const least = Math.min(...sizes);
  return compared[Number.isFinite(least) ? sizes.indexOf(least) : 0];
}

export function openSource(
  { reader: { table, project }, type }: Search,
  { stretches }: Source,
  limit: number,
  after?: TurnPosition,
): Opened[] {
  return openInTurn({ table, project, type }, stretches, limit, after);
}

/** How many candidates there are; infinite when the first pages do not hold them all. */
async function sizeOf(opened: readonly Opened[], limit: number): Promise<number> {
  if (opened.length > mostStretches) return Number.POSITIVE_INFINITY;
  const pages = await Promise.all(opened.map(({ prefetch }) => prefetch()));
  const counts = pages.map((page) => page?.length ?? 0);
  if (counts.some((count) => count >= limit)) return Number.POSITIVE_INFINITY;
  return counts.reduce((sum, count) => sum + count, 0);
}
