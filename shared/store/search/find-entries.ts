import { Refusal } from '../../base/refusal.ts';
import { auditSubtype, auditType, isId, parseReference, type Resource } from '../../base/resource.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, logShards } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { entryPartition } from '../index/index-items.ts';
import { idIndex, indexedId } from '../index/key-range.ts';
import {
  inBatches,
  mergeSorted,
  readTimed,
  recordWithoutLog,
  runRecordLists,
  type TimedReading,
} from '../items/read-ranges.ts';
import { batch, readHeads } from '../items/versions.ts';
import { bestOf, type Filter, matchesAll } from './filter.ts';
import {
  type Hit,
  mostSorted,
  mostSortedOf,
  openHit,
  type Position,
  type Search,
  sortedHits,
  tooCostly,
} from './hit.ts';

/** A condition of more values is matched only, not looked up. */
const mostLists = 50;
/** Bots that ran in one span of time: each has lists of its own to be read. */
const mostBots = 250;

/**
 * The hits of a search of AuditEvents, newest first unless the search says otherwise. They lie by their
 * time: in the log of the Project, in lists by agent, entity and kind, and among the runs of each Bot.
 * @param after the position of the last one seen
 * @throws {Refusal} too-costly
 */
export async function* findEntries(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  const byId = search.filters.find(({ keyRanges }) => keyRanges?.every(({ index }) => index === idIndex));
  const ids = byId?.keyRanges?.map(({ bucket }) => bucket);
  if (ids) return yield* sortedHits(search, ids, after);
  const isByTime = search.sort.every(({ parameter }) => isTime(parameter));
  if (!isByTime) return yield* inMemory(search, after);
  const newestFirst = search.sort[0]?.descending ?? true;
  const entries = entriesOf(search, newestFirst, after?.by === 'walk' ? after.sk : undefined);
  let size = Math.min(search.count + 1, batch);
  for await (const some of inBatches(entries, () => size)) {
    size = batch;
    search.spend(some.length);
    const pointers = some.filter(({ content }) => content === undefined).map(({ sk }) => indexedId(sk));
    const heads = await readHeads(search.reader, 'AuditEvent', pointers);
    for (const item of some) {
      const head = item.content === undefined ? heads.get(indexedId(item.sk)) : item;
      const hit = head && (await openHit(search, head));
      if (hit) yield { ...hit, position: { by: 'walk', sk: item.sk } };
    }
  }
}

function isTime({ code }: { code: string }): boolean {
  return code === 'date' || code === '_lastUpdated';
}

/** Few enough to be read at once and put in another order than that of time. */
async function* inMemory(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  const ids = new Set<string>();
  const most = mostSortedOf(search, after);
  for await (const { sk } of entriesOf(search, true, undefined)) {
    ids.add(indexedId(sk));
    if (ids.size > most) throw tooCostly(search, `would sort more than ${mostSorted} entries`);
  }
  yield* sortedHits(search, ids, after);
}

/** Entries, or what leads to them, in the order of time. */
function entriesOf(search: Search, newestFirst: boolean, after: string | undefined): AsyncGenerator<Item> {
  const { filters, count } = search;
  const { table, project } = search.reader;
  const attributes = recordWithoutLog;
  const reading = { ...timeBounds(filters), newestFirst, after, most: count + 1, attributes };
  const entries = readTimed(table, listsOf(project, filters), reading);
  if (!mayMatchRuns(project, filters, undefined)) return entries;
  const isAsked = (botId: string) => mayMatchRuns(project, filters, botId);
  const lists = botsIn(filters)
    ?.filter(isAsked)
    .flatMap((botId) => runRecordLists(project, botId));
  const runs = lists
    ? readTimed(table, lists, reading)
    : listExecutions({ table, project, reading, isAsked });
  return mergeSorted([entries, runs], newestFirst);
}

/** Where the hits are that are no runs: the shortest lists that a condition leads to, or the whole log. */
function listsOf(project: string, filters: readonly Filter[]): string[] {
  const best = bestOf(filters.filter(({ keyRanges = [] }) => keyRanges.length <= mostLists));
  const named = best?.keyRanges?.map(({ index, bucket }) => entryPartition(project, index, bucket));
  return named ?? Array.from({ length: logShards }, (_, shard) => keys.logEntry(project, shard, '').pk);
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

/**
 * Between which instants the hits of a search of AuditEvents lie, both inside, as far as `date` and `_lastUpdated`
 * tell. Wider than what is asked does no harm: every hit is matched again.
 */
export function timeBounds(filters: readonly Filter[]): Pick<TimedReading, 'from' | 'to'> {
  const intervals = filters.flatMap(({ parameters, interval }) =>
    interval && parameters.every(isTime) ? [interval] : [],
  );
  const low = intervals.filter(({ prefix }) => /^(eq|gt|ge|sa)$/.test(prefix)).map((one) => one.low);
  const high = intervals.filter(({ prefix }) => /^(eq|lt|le|eb)$/.test(prefix)).map((one) => one.high);
  return { from: low.sort().at(-1), to: high.sort()[0] };
}

/** What differs from run to run; all else that a search can ask is the same for every run of a Bot. */
const ofOneRun = ['_id', '_lastUpdated', 'agent', 'date', 'outcome', 'patient'];

/**
 * Whether the runs of a Bot may be among the hits: a search that excludes all of them need not read them.
 * @param botId undefined for any Bot
 */
export function mayMatchRuns(
  project: string,
  filters: readonly Filter[],
  botId: string | undefined,
): boolean {
  const unknown = new Set([...ofOneRun, ...(botId === undefined ? ['entity'] : [])]);
  // A condition that names no parameter may look at anything.
  const known = filters.filter(
    ({ parameters }) => parameters.length > 0 && parameters.every(({ code }) => !unknown.has(code)),
  );
  // The record of a run, as far as it is known without reading it.
  const run: Resource = {
    resourceType: 'AuditEvent',
    id: '',
    meta: { versionId: '', lastUpdated: '', project },
    type: auditType,
    subtype: [auditSubtype('execute')],
    action: 'E',
    source: { observer: { reference: `Project/${project}` } },
    ...(botId === undefined ? {} : { entity: [{ what: { reference: `Bot/${botId}` } }] }),
  };
  return matchesAll(run, known);
}

interface Executions {
  table: Table;
  project: string;
  reading: TimedReading;
  /** Whether a Bot's runs may be among the hits. */
  isAsked(botId: string): boolean;
}

/**
 * The records of all Bots' runs in the order of time. Only Bots are asked that ran on the days in
 * question: first of one day, then of two, of four …, so that idle Bots and idle days cost nothing.
 * @throws {Refusal} too-costly
 */
async function* listExecutions(executions: Executions): AsyncGenerator<Item> {
  let days = new Set<string>();
  let bots = new Set<string>();
  let most = 1;
  for await (const { day, botId } of runDays(executions)) {
    if (days.size === most && !days.has(day)) {
      yield* executionsOf(executions, days, bots);
      days = new Set();
      bots = new Set();
      most *= 2;
    }
    days.add(day);
    bots.add(botId);
    if (bots.size <= mostBots) continue;
    const text = `The search would look through the runs of more than ${mostBots} Bots: add entity=Bot/<id>, a later date, or another subtype`;
    throw new Refusal('too-costly', text);
  }
  yield* executionsOf(executions, days, bots);
}

async function* executionsOf(
  { table, project, reading }: Executions,
  days: ReadonlySet<string>,
  bots: ReadonlySet<string>,
): AsyncGenerator<Item> {
  if (bots.size === 0) return;
  const inOrder = [...days].sort();
  const lists = [...bots].flatMap((botId) => runRecordLists(project, botId));
  yield* readTimed(table, lists, {
    ...reading,
    from: later(reading.from, `${inOrder[0]}T00:00:00.000Z`),
    to: earlier(reading.to, `${inOrder.at(-1)}T23:59:59.999Z`),
  });
}

/** Which Bots ran on which day, in the order of the reading. */
export async function* runDays({
  table,
  project,
  reading: { from, to, after, newestFirst },
  isAsked,
}: Executions): AsyncGenerator<{ day: string; botId: string }> {
  const start = newestFirst ? from : later(from, after);
  const end = newestFirst ? earlier(to, after) : to;
  const bounds = { from: start?.slice(0, 10) ?? '0', to: `${end?.slice(0, 10) ?? ''}~` };
  const pages = readPages(table, keys.runDay(project, '', '').pk, { ...bounds, newestFirst });
  for await (const page of pages) {
    for (const { sk } of page) {
      const [day = '', botId = ''] = sk.split('#');
      if (isAsked(botId)) yield { day, botId };
    }
  }
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
