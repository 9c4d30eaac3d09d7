import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { isId, type Resource } from '../../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { runSearch } from '../../../shared/search/run-search.ts';
import { parseSearch } from '../../../shared/search/search-request.ts';
import type { Services } from '../../../shared/services.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Bundle, type BundleEntry, type Link, linkTo } from './bundle.ts';
import { gatherIncluded } from './included.ts';
import { readerOf, requireSearchable } from './reader.ts';
import { subsetOf } from './subset.ts';

/** How long the next page of a POST _search may be asked for. */
const pageSeconds = 86_400;

interface Input {
  type: string;
  /** The parameters, from the URL or a form. */
  query: URLSearchParams;
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
  { type, query, isPrivate = false }: Input,
): Promise<Bundle> {
  const token = query.get('_page');
  const pageKey = keys.page(caller.project, token ?? '');
  const { actor, found } = await admit(services, caller, isId(token ?? '') ? [pageKey] : []);
  const going = token === null ? { type, query, isPrivate } : storedPage(found.get(pageKey), type);
  const request = parseSearch(type, going.query, `${services.baseUrl}/fhir/R4/`);
  if (type === 'User') {
    throw new Refusal('forbidden', 'Users live above Projects: see admin/projects/<id>/members');
  }
  requireSearchable(actor, request);
  const reader = readerOf(services, actor);
  const page = await runSearch(reader, request);
  const { resources, characters, total } = page;
  const included = await gatherIncluded(reader, resources, request.includes, characters);
  const entry = await Promise.all([
    ...resources.map(async (one) => entryOf(services, await subsetOf(one, request), 'match')),
    ...included.map(async (one) => entryOf(services, one, 'include')),
  ]);
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    ...(total === undefined ? {} : { total }),
    ...(entry.length > 0 ? { entry } : {}),
    link: await linksOf(services, caller, going, page.next),
  };
}

export function entryOf(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  resource: Resource,
  mode: 'match' | 'include',
): BundleEntry {
  const { resourceType, id } = resource;
  return { fullUrl: `${baseUrl}/fhir/R4/${resourceType}/${id}`, resource, search: { mode } };
}

function storedPage(item: Item | undefined, type: string): Required<Input> {
  if (item?.type !== type)
    throw invalidField('_page', 'The page does not belong to this search, or is too old');
  return { type, query: new URLSearchParams(String(item.query)), isPrivate: true };
}

/** A private search is kept here, and the link names only where. */
async function linksOf(
  { table, baseUrl, now, newId }: Services,
  { project }: Caller,
  { type, query, isPrivate }: Required<Input>,
  next: string | undefined,
): Promise<Link[]> {
  const self = linkTo(baseUrl, type, isPrivate ? new URLSearchParams() : query, 'self');
  if (next === undefined) return [self];
  const following = new URLSearchParams(query);
  following.set('_cursor', next);
  if (!isPrivate) return [self, linkTo(baseUrl, type, following, 'next')];
  const token = newId();
  const ttl = Math.floor(now() / 1000) + pageSeconds;
  await table.put({ ...keys.page(project, token), type, query: following.toString(), ttl });
  return [self, linkTo(baseUrl, type, new URLSearchParams({ _page: token }), 'next')];
}
