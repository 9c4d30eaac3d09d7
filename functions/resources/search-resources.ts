import { mayInteract } from '../../shared/auth/access.ts';
import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { visible } from '../../shared/auth/visible.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import { type Page, runSearch } from '../../shared/search/run-search.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import type { Services } from '../../shared/services.ts';
import { type Bundle, type Link, linkTo } from './bundle.ts';

/**
 * One page of a search as a searchset Bundle.
 * @param input.query the parameters, from the URL or a form
 * @throws {Refusal} forbidden, invalid (unknown parameters too), too-costly
 */
export async function searchResources(
  services: Services,
  caller: Caller,
  { type, query }: { type: string; query: URLSearchParams },
): Promise<Bundle> {
  const request = parseSearch(type, query);
  const { actor } = await admit(services, caller, []);
  if (type === 'User') {
    throw new Refusal('forbidden', 'Users live above Projects: see admin/projects/<id>/members');
  }
  if (!mayInteract(actor, 'search', type)) throw new Refusal('forbidden', 'Forbidden');
  const page = await runSearch(services.table, caller.project, request, (resource) =>
    visible(actor, 'search', resource),
  );
  return searchset(services.baseUrl, type, query, page, request.fields);
}

function searchset(
  baseUrl: string,
  type: string,
  query: URLSearchParams,
  { resources, next }: Page,
  fields: readonly string[] | undefined,
): Bundle {
  const link: Link[] = [linkTo(baseUrl, type, query, 'self')];
  if (next !== undefined) {
    const following = new URLSearchParams(query);
    following.set('_cursor', next);
    link.push(linkTo(baseUrl, type, following, 'next'));
  }
  const entry = resources.map((resource) => ({
    fullUrl: `${baseUrl}/fhir/R4/${type}/${resource.id}`,
    resource: only(resource, fields),
    search: { mode: 'match' as const },
  }));
  return { resourceType: 'Bundle', type: 'searchset', ...(entry.length > 0 ? { entry } : {}), link };
}

/** `_fields` and `_elements`: the named elements, and what makes it a resource. */
function only(resource: Resource, fields: readonly string[] | undefined): Resource {
  if (!fields) return resource;
  const kept = Object.entries(resource).filter(([name]) => fields.includes(name) || named.has(name));
  return Object.fromEntries(kept) as Resource;
}

const named = new Set(['resourceType', 'id', 'meta']);
