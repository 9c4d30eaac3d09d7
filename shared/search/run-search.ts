import { parseJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import { contentText, withContent } from '../table/content.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Candidate, candidatesInTurn, candidatesMerged, inBatches } from './candidates.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { firstPlace, listPlan, type Plan, planSearch } from './plan.ts';
import { matchesFilters, type SearchRequest } from './search-request.ts';

/** A page of hits, digits kept; `next` is the cursor of the following page, if there is one. */
export interface Page {
  resources: Resource[];
  next: string | undefined;
}

/** Resources that one search may read before it is refused as too costly. */
const mostReads = 2000;
/** Up to so many candidates a `_sort` is done in memory. */
const mostSorted = 1000;
const batch = 100;

interface Hit {
  resource: Resource;
  position: string;
}

/**
 * One page of a search. Candidates come from an index; each is matched again against the resource it
 * leads to, so the index may hold too much, never too little.
 * @param admits whether the caller may see a resource
 * @throws {Refusal} invalid: a foreign cursor, or more resources to read than the budget allows
 */
export async function runSearch(
  table: Table,
  project: string,
  request: SearchRequest,
  admits: (resource: Resource) => Promise<boolean>,
): Promise<Page> {
  const { canonical, count, cursor } = request;
  const after = cursor === undefined ? undefined : readCursor(project, canonical, cursor);
  if (count === 0) return { resources: [], next: undefined };
  const hits: Hit[] = [];
  for await (const hit of findHits({ table, project, request, admits }, after)) {
    if (hits.push(hit) > count) break;
  }
  const page = hits.slice(0, count);
  const last = page.at(-1);
  return {
    resources: page.map(({ resource }) => resource),
    next: hits.length > count && last ? writeCursor(project, canonical, last.position) : undefined,
  };
}

interface Search {
  table: Table;
  project: string;
  request: SearchRequest;
  admits(resource: Resource): Promise<boolean>;
}

async function* findHits(search: Search, after: string | undefined): AsyncGenerator<Hit> {
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

async function* listHits(search: Search, plan: Plan, after: string | undefined): AsyncGenerator<Hit> {
  if (plan.kind !== 'list') return;
  const { table, project, request } = search;
  const of = { project, type: request.type, index: '_lastUpdated', spans: plan.spans };
  const candidates = candidatesMerged(table, of, pageSize(request), { newestFirst: plan.newestFirst, after });
  yield* matching(search, plan, candidates, ({ sk }) => sk);
}

/** Few enough to be read at once and put in order here. */
async function* sortedHits(
  search: Search,
  ids: readonly string[],
  after: string | undefined,
): AsyncGenerator<Hit> {
  const newestFirst = search.request.sort !== 'oldest first';
  const found = await readBatches(search, ids);
  const hits = found
    .filter((resource) => matchesFilters(resource, search.request.filters))
    .map((resource) => ({ resource, position: `${resource.meta.lastUpdated}#${resource.id}` }))
    .sort((a, b) => (a.position < b.position === newestFirst ? 1 : -1))
    .filter(({ position }) => after === undefined || (newestFirst ? position < after : position > after));
  for (const hit of hits) if (await search.admits(hit.resource)) yield hit;
}

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
    if (read > mostReads + batch) throw tooCostly();
    const found = new Map(
      (
        await readHeads(
          search,
          some.map(({ id }) => id),
        )
      ).map((one) => [one.id, one]),
    );
    for (const candidate of some) {
      const resource = found.get(candidate.id);
      if (!resource || !matchesFilters(resource, search.request.filters)) continue;
      const first = firstPlace(plan, resource);
      if (first?.span !== candidate.span || first.sk !== candidate.sk) continue;
      if (await search.admits(resource)) yield { resource, position: positionOf(candidate) };
    }
    size = batch;
  }
}

async function readBatches(search: Search, ids: readonly string[]): Promise<Resource[]> {
  const batches = Array.from({ length: Math.ceil(ids.length / batch) }, (_, i) =>
    ids.slice(i * batch, (i + 1) * batch),
  );
  return (await Promise.all(batches.map((some) => readHeads(search, some)))).flat();
}

async function readHeads({ table, project, request }: Search, ids: readonly string[]): Promise<Resource[]> {
  const wanted = [...new Set(ids)].map((id) => keys.resource(project, request.type, id));
  const found = await table.read(wanted);
  const heads = wanted.flatMap((key) => found.get(key) ?? []).filter((item) => item.deleted !== true);
  const full = await Promise.all(heads.map((item) => withContent(table, project, item)));
  return full.map((item) => parseJson(contentText(item)) as Resource);
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
