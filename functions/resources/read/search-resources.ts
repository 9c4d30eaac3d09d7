import type { Caller } from '../../../shared/access/access-token.ts';
import { type Actor, admit } from '../../../shared/access/actor.ts';
import { isId } from '../../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { mostOffset } from '../../../shared/search/controls.ts';
import { type Page, runSearch } from '../../../shared/search/run-search.ts';
import { parseSearch } from '../../../shared/search/search-request.ts';
import type { Services } from '../../../shared/services.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Bundle, type BundleEntry, entryOf, type Link, linkTo } from './bundle.ts';
import { gatherIncluded } from './included.ts';
import { readerOf, requireSearchable } from './reader.ts';
import { subsetOf } from './subset.ts';

/** How long the next page of a POST _search may be asked for. */
const pageSeconds = 86_400;

export interface SearchInput {
  type: string;
  /** The parameters, from the URL or a form. */
  query: URLSearchParams;
  /** Only what is in the compartment of this Patient: its reference. */
  within?: string;
  /** They came in a body: no link of the answer may hold them. */
  isPrivate?: boolean;
}

/**
 * One page of a search as a searchset Bundle.
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
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    ...(page.total === undefined ? {} : { total: page.total }),
    ...(entries.length > 0 ? { entry: entries } : {}),
    link: await linksOf(services, caller, going, page),
  };
}

/** The hits of a page of one type, with what is included. */
export async function searchPage(
  services: Services,
  actor: Actor,
  { type, query }: Pick<SearchInput, 'type' | 'query'>,
): Promise<{ page: Page; entries: BundleEntry[]; count: number }> {
  const request = parseSearch(type, query, `${services.baseUrl}/fhir/R4/`);
  requireSearchable(actor, request);
  const reader = readerOf(services, actor);
  const page = await runSearch(reader, request);
  const { resources, characters } = page;
  const included = await gatherIncluded(reader, resources, request.includes, characters);
  const entries = await Promise.all([
    ...resources.map(async (one) => entryOf(services, await subsetOf(one, request), 'match')),
    ...included.map(async (one) => entryOf(services, one, 'include')),
  ]);
  return { page, entries, count: request.count };
}

/** A search as it was asked for, now or, where its links name only a page, at first. */
export interface Asked {
  /** From fhir/R4/ on. */
  path: string;
  query: URLSearchParams;
  isPrivate: boolean;
}

/** Who asks, and for what. @throws {Refusal} invalid for a page of another search */
export async function askedFor(
  services: Services,
  caller: Caller,
  asked: Asked,
): Promise<{ actor: Actor; going: Asked }> {
  const token = asked.query.get('_page');
  const pageKey = keys.page(caller.project, token ?? '');
  const { actor, found } = await admit(services, caller, isId(token ?? '') ? [pageKey] : []);
  return { actor, going: token === null ? asked : storedPage(found.get(pageKey), asked.path) };
}

/**
 * The search without `_project`, which says what is so anyway.
 * @throws {Refusal} invalid for another Project
 */
export function inOwnProject(query: URLSearchParams, project: string): URLSearchParams {
  const named = query.getAll('_project').map((one) => one.replace(/^Project\//, ''));
  if (named.some((one) => one !== project)) {
    throw invalidField('_project', 'Only the own Project can be searched');
  }
  return new URLSearchParams([...query].filter(([name]) => name !== '_project'));
}

function storedPage(item: Item | undefined, path: string): Asked {
  if (item?.type !== path) {
    throw invalidField('_page', 'The page does not belong to this search, or is too old');
  }
  return { path, query: new URLSearchParams(String(item.query)), isPrivate: true };
}

/** Where pages are, beside the own: a private search is kept here, and its link names only where. */
export async function linksOf(
  { table, baseUrl, now, newId }: Services,
  { project }: Caller,
  { path, query, isPrivate }: Asked,
  { next, offset, before, size }: Pick<Page, 'next' | 'offset' | 'before' | 'size'>,
): Promise<Link[]> {
  const self = linkTo(baseUrl, path, isPrivate ? new URLSearchParams() : query, 'self');
  const at = (values: Record<string, string | number | undefined>) => {
    const other = new URLSearchParams(query);
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
  const token = newId();
  const ttl = Math.floor(now() / 1000) + pageSeconds;
  await table.put({ ...keys.page(project, token), type: path, query: following.toString(), ttl });
  return [...links, linkTo(baseUrl, path, new URLSearchParams({ _page: token }), 'next')];
}
