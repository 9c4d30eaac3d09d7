import { isId, parseReference } from '../../fhir/resource.ts';
import { entryPartition } from '../../index/entry-index.ts';
import { idIndex } from '../../index/span.ts';
import { inBatches } from '../../store/candidates.ts';
import { batch, readHeads } from '../../store/heads.ts';
import { runRecordLists } from '../../store/run-lists.ts';
import { idAtEnd, readTimed, type TimedList, type TimedReading } from '../../store/timed-list.ts';
import type { Item } from '../../table/item.ts';
import { keys, logShards } from '../../table/keys.ts';
import type { Filter } from '../filter.ts';
import { type Hit, openHit, type Search } from '../hit.ts';
import { tooCostly } from '../most-opened.ts';
import { sortedHits } from '../order.ts';
import type { Position } from '../position.ts';
import { listExecutions } from './execution-lists.ts';
import { mergeTimed } from './merge-timed.ts';
import { mayMatchRuns } from './run-like.ts';
import { timeBounds } from './time-bounds.ts';

/** Up to so many entries a `_sort` by anything but time is done in memory. */
const mostSorted = 1000;
/** A condition of more values is matched only, not looked up. */
const mostLists = 50;
/** An entry without what only its Bot's `$logs` shows. */
const attributes = ['versionId', 'lastUpdated', 'content', 'ttl'];

/**
 * The hits of a search of AuditEvents, newest first unless the search says otherwise. They lie by their
 * time: in the log of the Project, in lists by agent, entity and kind, and among the runs of each Bot.
 * @param after the position of the last one seen
 * @throws {Refusal} too-costly
 */
export async function* findEntries(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  const ids = idsIn(search.filters);
  if (ids) return yield* sortedHits(search, ids, after?.by === 'rank' ? after : undefined);
  const [first] = search.sort;
  const isByTime = search.sort.every(({ parameter: { code } }) => code === 'date' || code === '_lastUpdated');
  if (!isByTime) return yield* inMemory(search, after);
  const newestFirst = first?.descending ?? true;
  yield* inTime(search, { newestFirst, after: after?.by === 'walk' ? after.sk : undefined });
}

async function* inTime(
  search: Search,
  { newestFirst, after }: Pick<TimedReading, 'newestFirst' | 'after'>,
): AsyncGenerator<Hit> {
  let size = Math.min(search.count + 1, batch);
  for await (const some of inBatches(entriesOf(search, newestFirst, after), () => size)) {
    size = batch;
    search.budget.spend(some.length);
    const pointers = some.filter(({ content }) => content === undefined).map(({ sk }) => idAtEnd(sk));
    const heads = await readHeads(search.reader, 'AuditEvent', pointers);
    for (const item of some) {
      const head = item.content === undefined ? heads.get(idAtEnd(item.sk)) : item;
      const hit = head && (await openHit(search, head));
      if (hit) yield { ...hit, position: { by: 'walk', sk: item.sk } };
    }
  }
}

/** Few enough to be read at once and put in another order than that of time. */
async function* inMemory(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  const ids = new Set<string>();
  // A later page uses the way of the first one, even when entries were added in between.
  const most = after ? 2 * mostSorted : mostSorted;
  for await (const { sk } of entriesOf(search, true, undefined)) {
    ids.add(idAtEnd(sk));
    if (ids.size > most) {
      throw tooCostly(search.type, search.filters, `would sort more than ${mostSorted} entries`);
    }
  }
  yield* sortedHits(search, [...ids], after?.by === 'rank' ? after : undefined);
}

/** Entries, or what leads to them, in the order of time. */
function entriesOf(search: Search, newestFirst: boolean, after: string | undefined): AsyncGenerator<Item> {
  const { filters, count, reader } = search;
  const { table, project } = reader;
  const reading: TimedReading = { ...timeBounds(filters), newestFirst, after, most: count + 1, attributes };
  const bots = botsIn(filters);
  const entries = readTimed(table, listsOf(project, filters), reading);
  if (!mayMatchRuns(project, filters, undefined)) return entries;
  const isWanted = (botId: string) => mayMatchRuns(project, filters, botId);
  const runs = bots
    ? readTimed(
        table,
        bots.filter(isWanted).flatMap((botId) => runRecordLists(project, botId)),
        reading,
      )
    : listExecutions({ table, project, reading, isWanted });
  return mergeTimed([entries, runs], newestFirst);
}

/** Where the hits are that are no runs: the shortest lists that a condition leads to, or the whole log. */
function listsOf(project: string, filters: readonly Filter[]): TimedList[] {
  const known = filters
    .filter(({ stretches }) => stretches && stretches.length <= mostLists)
    .sort((a, b) => a.rank - b.rank);
  const [best] = known;
  if (!best?.stretches) {
    return Array.from({ length: logShards }, (_, shard) => ({ pk: keys.logEntry(project, shard, '').pk }));
  }
  return best.stretches.map(({ index, bucket }) => ({
    pk: entryPartition(project, index, bucket),
  }));
}

/** The Bots that a search asks for as what was done to; undefined when it does not say which. */
function botsIn(filters: readonly Filter[]): string[] | undefined {
  const named = filters.find(({ parameters, references }) => references && parameters[0]?.code === 'entity');
  return named?.references?.flatMap((reference) => {
    const target = parseReference(reference);
    if (target) return target.type === 'Bot' ? [target.id] : [];
    return isId(reference) ? [reference] : [];
  });
}

/** The ids that a search asks for. */
function idsIn(filters: readonly Filter[]): string[] | undefined {
  const byId = filters.find(({ stretches }) => stretches?.every(({ index }) => index === idIndex));
  return byId?.stretches?.map(({ bucket }) => bucket);
}
