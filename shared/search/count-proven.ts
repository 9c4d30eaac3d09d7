import { isAdministrative } from '../fhir/administrative.ts';
import { indexedId } from '../index/places.ts';
import { lastUpdatedOf } from '../index/registry.ts';
import type { Stretch } from '../index/span.ts';
import { batch, readHeads } from '../store/heads.ts';
import { fewIdsIn, idsBeingWritten, sortKeysIn } from '../store/index-keys.ts';
import { openHit, type Search } from './hit.ts';
import { tooCostly } from './most-opened.ts';
import { orderedStretches, sourcesOf } from './plan.ts';

/**
 * Where a count needs no more than index items: who counts sees all of the type, and each condition is one that
 * items of one and the same index can show to hold.
 */
export function provingStretches({ reader, type, filters }: Search): readonly Stretch[] | undefined {
  if (isAdministrative(type) || !reader.seesAll?.(type)) return undefined;
  const everything = lastUpdatedOf(type);
  const indexes = new Set(filters.map(({ parameters: [parameter] }) => parameter?.index));
  if (indexes.size > 1 || filters.some(({ proves }) => !proves)) return undefined;
  if (filters.length === 0 || indexes.has(everything.index)) {
    return orderedStretches(everything, filters).stretches;
  }
  return sourcesOf(filters)[0]?.stretches;
}

/**
 * How many hits there are, by the index items alone. What items do not show is opened, and so is what is being
 * written: read before and after, for a write may begin or end meanwhile.
 * @throws {Refusal} too-costly, when the items are of more than `most` resources
 */
export async function countProven(
  search: Search,
  stretches: readonly Stretch[],
  most: number,
): Promise<number> {
  const { reader, type, filters } = search;
  const owner = { table: reader.table, project: reader.project, type };
  // To open a few costs less than to ask what is being written.
  const few = stretches.length <= together && (await fewIdsIn(owner, stretches, batch));
  if (few) return countOpened(search, [...few]);
  const before = await idsBeingWritten(owner);
  const proven = new Set<string>();
  const unclear = new Set<string>();
  const countIn = async (stretch: Stretch) => {
    for await (const page of sortKeysIn(owner, stretch)) {
      for (const sk of page) {
        const isProof = filters.every((filter) => filter.proves?.(stretch, sk));
        (isProof ? proven : unclear).add(indexedId(sk));
      }
      if (proven.size > most) throw tooCostly(type, filters, `would count more than ${most} of ${type}`);
    }
  };
  for (let at = 0; at < stretches.length; at += together) {
    await Promise.all(stretches.slice(at, at + together).map(countIn));
  }
  for (const id of [...before, ...(await idsBeingWritten(owner))]) {
    if (proven.delete(id)) unclear.add(id);
  }
  const opened = [...unclear].filter((id) => !proven.has(id));
  if (proven.size + opened.length > most) {
    throw tooCostly(type, filters, `would count more than ${most} of ${type}`);
  }
  return proven.size + (await countOpened(search, opened));
}

/** So many stretches are read at once. */
const together = 8;

async function countOpened(search: Search, ids: readonly string[]): Promise<number> {
  let count = 0;
  for (let at = 0; at < ids.length; at += batch) {
    for (const head of (await readHeads(search.reader, search.type, ids.slice(at, at + batch))).values()) {
      if (await openHit(search, head)) count++;
    }
  }
  return count;
}
