import { isMemberFound, type MemberPlace, memberPlaceOf } from '../../shared/index/member-place.ts';
import { indexedId } from '../../shared/index/places.ts';
import type { Stretch } from '../../shared/index/span.ts';
import type { Filter } from '../../shared/search/filter.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import { candidatesMerged, countIn } from '../../shared/store/candidates.ts';
import type { Owner } from '../../shared/store/stretch-query.ts';
import { afterAll, groupsBy, readSortKeys } from './member-order.ts';
import type { MemberQuery } from './member-query.ts';

/** A member as the index tells of it: nothing of it has been read yet. */
export interface Listed {
  id: string;
  /** Undefined of an item of an earlier release. */
  place: MemberPlace | undefined;
  /** What the list is sorted by; different for each. */
  rank: string;
}

/**
 * The members that the index names for a query, in its order. By name alone it is read as far as the page goes;
 * to search, to sort otherwise or to combine conditions, the keys of all members of the kinds are.
 * @returns `total` where the index alone tells how many there are
 */
export async function listDirectory(
  of: Owner,
  query: MemberQuery,
  { after, nowMs }: { after: string | undefined; nowMs: number },
): Promise<{ listed: AsyncIterable<Listed>; total: number | undefined }> {
  const { words, filters, by, descending, count, withTotal, state } = query;
  const stretches = stretchesOfTypes(query.types);
  if (words.length === 0 && filters.length === 0 && by === 'name') {
    const options = { newestFirst: descending, after };
    return {
      listed: named(candidatesMerged(of, stretches, Math.min(count + 1, 100), options)),
      total: withTotal && state === undefined ? await countIn(of, stretches) : undefined,
    };
  }
  const [kinds, ...among] = await Promise.all([
    readKinds(of, query.types),
    ...filters.map((filter) => idsOf(of, filter)),
  ]);
  const found = [...kinds.keys()].filter((sk) => {
    const place = memberPlaceOf(sk);
    return (
      place &&
      isMemberFound(place, words) &&
      among.every((ids) => ids === undefined || ids.has(indexedId(sk)))
    );
  });
  const rankOf = await ranking(of, by, kinds, nowMs);
  const ranked = found.map((sk) => ({ id: indexedId(sk), place: memberPlaceOf(sk), rank: rankOf(sk) }));
  ranked.sort((a, b) => (a.rank < b.rank === descending ? 1 : -1));
  const isAfter = ({ rank }: Listed) => after === undefined || (descending ? rank < after : rank > after);
  return { listed: inTurn(ranked.filter(isAfter)), total: state === undefined ? ranked.length : undefined };
}

function stretchesOfTypes(types: readonly string[]): readonly Stretch[] {
  const query = new URLSearchParams({ 'profile-type': types.join(',') });
  return parseSearch('ProjectMembership', query).filters[0]?.stretches ?? [];
}

/** Undefined when no index tells: every candidate is matched against its membership anyway. */
async function idsOf(of: Owner, { stretches }: Filter): Promise<Set<string> | undefined> {
  return stretches && new Set((await readSortKeys(of, stretches)).map(indexedId));
}

/** All members of some types: the type of each, by its sort key. */
async function readKinds(of: Owner, types: readonly string[]): Promise<Map<string, string>> {
  const read = types.map(async (type) =>
    (await readSortKeys(of, stretchesOfTypes([type]))).map((sk) => [sk, type] as const),
  );
  return new Map((await Promise.all(read)).flat());
}

/** What the members are sorted by, from their sort keys. */
async function ranking(
  of: Owner,
  by: MemberQuery['by'],
  kinds: ReadonlyMap<string, string>,
  nowMs: number,
): Promise<(sk: string) => string> {
  if (by === 'name') return (sk) => sk;
  if (by === 'address') return byAddress;
  const types = new Map([...kinds].map(([sk, type]) => [indexedId(sk), type]));
  const groupOf = await groupsBy(of, by, (id) => types.get(id) ?? '', nowMs);
  return (sk) => `${groupOf(indexedId(sk))}${sk}`;
}

/** Those without an address come last. */
function byAddress(sk: string): string {
  const { name = '', address = '' } = memberPlaceOf(sk) ?? {};
  return `${address === '' ? afterAll : address}\t${name}#${indexedId(sk)}`;
}

async function* named(candidates: AsyncIterable<{ id: string; sk: string }>): AsyncGenerator<Listed> {
  for await (const { id, sk } of candidates) yield { id, place: memberPlaceOf(sk), rank: sk };
}

async function* inTurn(all: readonly Listed[]): AsyncGenerator<Listed> {
  yield* all;
}
