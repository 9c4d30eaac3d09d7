import { batch, readHeads } from '../store/heads.ts';
import type { Item } from '../table/item.ts';
import { parseHead } from '../table/keys.ts';
import { type Hit, openHit, type Search } from './hit.ts';
import { compareRanks, type Rank, rankOf } from './sort.ts';

/** Of what was read to be put in order, this much is kept for the answer; the rest is read again. */
const mostKeptBytes = 32 * 1024 * 1024;

/**
 * Few enough to be read at once and put in order here.
 * @throws {Refusal} too-costly
 */
export async function* sortedHits(
  search: Search,
  ids: readonly string[],
  after: Rank | undefined,
): AsyncGenerator<Hit> {
  search.budget.spend(ids.length);
  const { reader, type, sort } = search;
  const ranked: { rank: Rank; head: Item | undefined }[] = [];
  let bytes = 0;
  for (let at = 0; at < ids.length; at += 4 * batch) {
    for (const [, head] of await readHeads(reader, type, ids.slice(at, at + 4 * batch))) {
      const rank = await rankOfHead(search, head);
      if (!rank || (after && compareRanks(rank, after, sort) <= 0)) continue;
      bytes += sizeOf(head);
      ranked.push({ rank, head: bytes <= mostKeptBytes ? head : undefined });
    }
  }
  ranked.sort((a, b) => compareRanks(a.rank, b.rank, sort));
  for (const { rank, head } of ranked) {
    const item = head ?? (await readHeads(reader, type, [rank.id])).get(rank.id);
    const hit = item && (await openHit(search, item));
    if (hit) yield { ...hit, position: { by: 'rank', ...rank } };
  }
}

/** A head tells its own `_lastUpdated`; for every other order it must be opened. */
async function rankOfHead(search: Search, head: Item): Promise<Rank | undefined> {
  const { sort } = search;
  if (sort.every(({ parameter }) => parameter.code === '_lastUpdated')) {
    const id = parseHead(head)?.id ?? '';
    return { values: sort.map(() => String(head.lastUpdated)), id };
  }
  const hit = await openHit(search, head);
  return hit && rankOf(hit.resource, sort);
}

function sizeOf({ content }: Item): number {
  return typeof content === 'string' || content instanceof Uint8Array ? content.length : 0;
}
