import { parseJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import { contentText, withContent } from '../table/content.ts';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { type Candidate, candidatesInTurn, candidatesMerged, inBatches } from './candidates.ts';
import { firstPlace, listPlan, type Plan, planSearch } from './plan.ts';
import { matchesFilters, type SearchRequest } from './search-request.ts';

export interface Search {
  table: Table;
  project: string;
  request: SearchRequest;
  admits(resource: Resource): Promise<boolean>;
}

export interface Hit {
  resource: Resource;
  /** Of its JSON text. */
  characters: number;
  /** Where the next page goes on after it. */
  position: string;
}

/** Resources that one page may read before the search is refused as too costly. */
const mostReads = 2000;
/** Up to so many candidates a `_sort` is done in memory. */
const mostSorted = 1000;
const batch = 100;

/** All hits in their order, read as they are asked for. @param after the position of the last one seen */
export async function* findHits(search: Search, after: string | undefined): AsyncGenerator<Hit> {
  const { table, project, request } = search;
  const plan = planSearch(request);
  if (plan.kind === 'ids') return yield* sortedHits(search, plan.ids, after);
  if (plan.kind === 'list') return yield* listHits(search, plan, after);
  const of = { project, type: request.type, index: plan.index, spans: plan.spans };
  if (request.sort === undefined) {
    const from = after === undefined ? undefined : parsePosition(after);
    const candidates = candidatesInTurn(table, of, pageSize(request), from);
    return yield* matching(search, plan, candidates, ({ span, sk }) => `${span}:${sk}`);
  }
  const ids = new Set<string>();
  for await (const { id } of candidatesInTurn(table, of, mostSorted)) {
    ids.add(id);
    if (ids.size > mostSorted) {
      const list = listPlan(request.type, request.filters, request.sort !== 'oldest first');
      return yield* listHits(search, list, after);
    }
  }
  yield* sortedHits(search, [...ids], after);
}

async function* listHits(search: Search, plan: ListPlan, after: string | undefined): AsyncGenerator<Hit> {
  const { table, project, request } = search;
  const of = { project, type: request.type, index: '_lastUpdated', spans: plan.spans };
  const candidates = candidatesMerged(table, of, pageSize(request), { newestFirst: plan.newestFirst, after });
  yield* matching(search, plan, candidates, ({ sk }) => sk);
}

type ListPlan = Extract<Plan, { kind: 'list' }>;

/** Few enough to be read at once and put in order here. */
async function* sortedHits(
  search: Search,
  ids: readonly string[],
  after: string | undefined,
): AsyncGenerator<Hit> {
  if (ids.length > mostReads) throw tooCostly();
  const newestFirst = search.request.sort !== 'oldest first';
  const heads = [...(await readHeads(search, ids))].map(([id, item]) => ({
    item,
    position: `${item.lastUpdated}#${id}`,
  }));
  heads.sort((a, b) => (a.position < b.position === newestFirst ? 1 : -1));
  for (const { item, position } of heads) {
    if (after !== undefined && (newestFirst ? position >= after : position <= after)) continue;
    const hit = await openHit(search, item, position);
    if (hit && (await search.admits(hit.resource))) yield hit;
  }
}

/** Candidates as they come: each counts at the first place where it turns up, and only there. */
async function* matching(
  search: Search,
  plan: Exclude<Plan, { kind: 'ids' }>,
  candidates: AsyncGenerator<Candidate>,
  positionOf: (candidate: Candidate) => string,
): AsyncGenerator<Hit> {
  let read = 0;
  let size = pageSize(search.request);
  for await (const some of inBatches(candidates, () => size)) {
    read += some.length;
    if (read > mostReads) throw tooCostly();
    const ids = some.map(({ id }) => id);
    const heads = await readHeads(search, ids);
    for (const candidate of some) {
      const head = heads.get(candidate.id);
      const hit = head && (await openHit(search, head, positionOf(candidate)));
      if (!hit) continue;
      const first = firstPlace(plan, hit.resource);
      if (first?.span !== candidate.span || first.sk !== candidate.sk) continue;
      if (await search.admits(hit.resource)) yield hit;
    }
    size = batch;
  }
}

async function readHeads(
  { table, project, request }: Search,
  ids: readonly string[],
): Promise<Map<string, Item>> {
  const wanted = [...new Set(ids)].map((id) => ({ id, key: keys.resource(project, request.type, id) }));
  const batches = Array.from({ length: Math.ceil(wanted.length / batch) }, (_, i) =>
    wanted.slice(i * batch, (i + 1) * batch),
  );
  const read = await Promise.all(
    batches.map(async (some) => {
      const found = await table.read(some.map(({ key }) => key));
      return some.flatMap(({ id, key }) => {
        const item = found.get(key);
        return item && item.deleted !== true ? [[id, item] as const] : [];
      });
    }),
  );
  return new Map(read.flat());
}

/** Unpacked one at a time: a hundred resources of 4 MiB would not fit the memory. */
async function openHit(
  { table, project, request }: Search,
  head: Item,
  position: string,
): Promise<Hit | undefined> {
  const text = contentText(await withContent(table, project, head));
  const resource = parseJson(text) as Resource;
  return matchesFilters(resource, request.filters)
    ? { resource, characters: text.length, position }
    : undefined;
}

/** One more than a page, so that the answer knows whether there is a next. */
function pageSize({ count }: SearchRequest): number {
  return Math.min(count + 1, batch);
}

function parsePosition(text: string): { span: number; sk: string } {
  const at = text.indexOf(':');
  return { span: Number(text.slice(0, at)), sk: text.slice(at + 1) };
}

function tooCostly(): Refusal {
  return new Refusal(
    'too-costly',
    `The search would read more than ${mostReads} resources: add a parameter that fewer resources match`,
  );
}
