import { invalidField, Refusal } from '../../base/refusal.ts';
import { isId, type Resource } from '../../base/resource.ts';
import { readQuery } from '../../base/schema.ts';
import { withoutKeys } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { unlimitedBudget } from '../../carry/table/budget.ts';
import { keys } from '../../carry/table/keys.ts';
import { drawingOn } from '../../carry/table/metered.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { summaryElements } from '../../store/fhir/structures.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { runSearch, type SearchPage } from '../../store/search/run-search.ts';
import { mostOffset, parseSearch, type SearchRequest } from '../../store/search/search-request.ts';
import { type Bundle, type BundleEntry, type BundleLink, entryOf, linkTo, pageBundle } from './bundle.ts';
import { gatherIncluded, readerOf, requireSearchable } from './included.ts';

const always = new Set(['resourceType', 'id', 'meta']);

/** R4 `_fields`, `_elements` and `_summary`: a resource with some of its top-level elements. */
async function subsetOf(
  resource: Resource,
  { fields, summary }: Pick<SearchRequest, 'fields' | 'summary'>,
): Promise<Resource> {
  if (fields) return pick(resource, (name) => fields.has(name));
  if (summary === 'false' || summary === 'count') return resource;
  if (summary === 'data') return pick(marked(resource), (name) => name !== 'text');
  const { required, summarised } = await summaryElements(resource.resourceType);
  const shown = summary === 'text' ? new Set(['text']) : summarised;
  return pick(marked(resource), (name) => shown.has(name) || required.has(name));
}

function pick(resource: Resource, isKept: (name: string) => boolean): Resource {
  return withoutKeys(resource, (name) => !always.has(name) && !isKept(name.replace(/^_/, '')));
}

/** R4 search, `_summary`: a part must not be taken for the whole and written back. */
function marked(resource: Resource): Resource {
  const tag = [resource.meta.tag ?? []].flat();
  return { ...resource, meta: { ...resource.meta, tag: [...tag, subsetted] } };
}

const subsetted = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };

/** How long the next page of a POST _search may be asked for. */
const pageSeconds = 86_400;
/** It is kept as one item: DynamoDB's hold 400 KB. */
const longestKeptSearch = 300_000;

interface SearchInput {
  type: string;
  query: URLSearchParams;
  within?: string;
  isPrivate?: boolean;
}

/**
 * One page of a search as a searchset Bundle.
 * @param input.within only what is in the compartment of this Patient: its reference
 * @param input.isPrivate the parameters came in a body: no link of the answer may hold them
 * @throws {Refusal} forbidden, invalid (unknown parameters too), too-costly
 */
export async function searchResources(
  services: Services,
  caller: Caller,
  { type, query, within, isPrivate = false }: SearchInput,
): Promise<Bundle> {
  const path = within === undefined ? type : `${within}/${type}`;
  const { actor, going } = await askedFor(services, caller, { path, query, isPrivate });
  if (type === 'User') {
    throw new Refusal('forbidden', 'Users live above Projects: see admin/projects/<id>/members');
  }
  const asked = inOwnProject(going.query, caller.project);
  if (within !== undefined) asked.append('_compartment', within);
  const { page, entries } = await searchPage(services, actor, { type, query: asked });
  return pageBundle('searchset', entries, await linksOf(services, caller, going, page), page.total);
}

async function searchPage(
  services: Services,
  actor: Actor,
  { type, query }: Pick<SearchInput, 'type' | 'query'>,
): Promise<{ page: SearchPage; entries: BundleEntry[]; count: number }> {
  const request = parseSearch(type, query, services.table.budget, `${services.baseUrl}/fhir/R4/`);
  requireSearchable(actor, request);
  const reader = readerOf(services, actor);
  const page = await runSearch(reader, request);
  const { resources, bytes } = page;
  const included = await gatherIncluded(reader, resources, request.includes, bytes);
  const entries = await Promise.all([
    ...resources.map(async (one) => entryOf(services, await subsetOf(one, request), 'match')),
    ...included.map(async (one) => entryOf(services, one, 'include')),
  ]);
  return { page, entries, count: request.count };
}

/** A search as it was asked for, now or, where its links name only a page, at first. @property path from fhir/R4/ on */
type Asked = Pick<SearchInput, 'query'> & { path: string; isPrivate: boolean };

/** Who asks, and for what. @throws {Refusal} invalid for a page of another search */
async function askedFor(
  services: Services,
  caller: Caller,
  asked: Asked,
): Promise<{ actor: Actor; going: Asked }> {
  const { path, query } = asked;
  const token = query.get('_page');
  const pageKey = keys.page(caller.project, token ?? '');
  const { actor, found } = await admit(services, caller, isId(token ?? '') ? [pageKey] : []);
  if (token === null) return { actor, going: asked };
  const stored = found.get(pageKey);
  if (stored?.type !== path) {
    throw invalidField('_page', 'The page does not belong to this search, or is too old');
  }
  return { actor, going: { path, query: readQuery(String(stored.query)), isPrivate: true } };
}

/**
 * The search without `_project`, which says what is so anyway.
 * @throws {Refusal} invalid for another Project
 */
function inOwnProject(query: URLSearchParams, project: string): URLSearchParams {
  const named = query.getAll('_project').map((one) => one.replace(/^Project\//, ''));
  if (named.some((one) => one !== project)) {
    throw invalidField('_project', 'Only the own Project can be searched');
  }
  return new URLSearchParams([...query].filter(([name]) => name !== '_project'));
}

/** Where pages are, beside the own: a private search is kept here, and its link names only where. */
async function linksOf(
  { table, baseUrl, now, newId }: Services,
  { project }: Caller,
  { path, query, isPrivate }: Asked,
  { next, offset, before, size }: Pick<SearchPage, 'next' | 'offset' | 'before' | 'size'>,
): Promise<BundleLink[]> {
  const self = linkTo(baseUrl, path, isPrivate ? new URLSearchParams() : query, 'self');
  const at = (values: Record<string, string | number | undefined>) => {
    const other = new URLSearchParams([...query]);
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value === 0) other.delete(name);
      else other.set(name, String(value));
    }
    return other;
  };
  const links = [self];
  if (before > 0 && !isPrivate) {
    links.push(linkTo(baseUrl, path, at({ _cursor: undefined, _offset: undefined }), 'first'));
    const start = Math.max(0, before - size);
    if (start <= mostOffset) {
      links.push(linkTo(baseUrl, path, at({ _cursor: undefined, _offset: start }), 'previous'));
    }
  }
  if (next === undefined) return links;
  const following = at({ _cursor: next, _offset: offset });
  if (!isPrivate) return [...links, linkTo(baseUrl, path, following, 'next')];
  const text = following.toString();
  if (text.length > longestKeptSearch)
    throw new Refusal(
      'too-costly',
      `A search that goes on is longer than ${longestKeptSearch} characters: shorten it`,
    );
  const token = newId();
  const ttl = Math.floor(now() / 1000) + pageSeconds;
  // It changes no record: what the page shows is recorded, or refused, as of any read.
  table.budget.spend('items', 1);
  const unwritten = drawingOn(table, unlimitedBudget);
  await unwritten.put({ ...keys.page(project, token), type: path, query: text, ttl });
  return [...links, linkTo(baseUrl, path, new URLSearchParams({ _page: token }), 'next')];
}

const mostTypes = 20;

/**
 * One page of a search over several types, R4's search of the system: the hits of one type after those of
 * another, in the order in which `_type` names them.
 * @throws {Refusal} forbidden, invalid, too-costly, as for each of the types
 */
export async function searchTypes(
  services: Services,
  caller: Caller,
  { query, isPrivate = false }: { query: URLSearchParams; isPrivate?: boolean },
): Promise<Bundle> {
  const { actor, going } = await askedFor(services, caller, { path: '', query, isPrivate });
  const asked = inOwnProject(going.query, caller.project);
  const { types, start, cursor } = parsePlace(asked);
  const entries: BundleEntry[] = [];
  let total: number | undefined;
  let left: number | undefined;
  let next: string | undefined;
  for (const [i, type] of types.entries()) {
    if (i < start) continue;
    const own = new URLSearchParams([...asked]);
    if (i === start && cursor !== '') own.set('_cursor', cursor);
    if (left !== undefined) own.set('_count', String(left));
    const { page, entries: some, count } = await searchPage(services, actor, { type, query: own });
    left = (left ?? count) - page.resources.length;
    entries.push(...some);
    if (page.total !== undefined) total = (total ?? 0) + page.total;
    const follows = page.next !== undefined || (left <= 0 && i + 1 < types.length && count > 0);
    if (!follows) continue;
    next = page.next === undefined ? `${i + 1}.` : `${i}.${page.next}`;
    asked.set('_summary', 'count');
    for (const other of total === undefined ? [] : types.slice(i + 1)) {
      const rest = await searchPage(services, actor, { type: other, query: asked });
      total = (total ?? 0) + (rest.page.total ?? 0);
    }
    break;
  }
  const distinct = new Map(entries.map((entry) => [`${entry.search?.mode} ${entry.fullUrl}`, entry]));
  const links = await linksOf(services, caller, going, { next, offset: 0, before: 0, size: 0 });
  // Of some of the types it would be taken for that of all: the first page alone tells it.
  return pageBundle('searchset', [...distinct.values()], links, start > 0 ? undefined : total);
}

/** Takes what is of the whole search out of the parameters that each type is asked for. */
function parsePlace(query: URLSearchParams): { types: string[]; start: number; cursor: string } {
  const types = [...new Set(query.getAll('_type').join().split(',').filter(Boolean))];
  const wrong = types.find((type) => !isResourceType(type) || type === 'User');
  if (wrong !== undefined) throw invalidField('_type', `${wrong} is not a resource type that is searched`);
  if (types.length === 0 || types.length > mostTypes) {
    throw invalidField('_type', `A search over types names 1 to ${mostTypes} of them in _type`);
  }
  for (const name of types.length > 1 ? ['_sort', '_offset'] : []) {
    if (query.has(name)) throw invalidField(name, `${name} is for a search of one type`);
  }
  const [, start = '0', cursor = ''] = /^(\d{1,2})\.(.*)$/s.exec(query.get('_cursor') ?? '0.') ?? [];
  query.delete('_type');
  query.delete('_cursor');
  return { types, start: Number(start), cursor };
}
