import type { Resource } from '../fhir/resource.ts';
import type { Table } from '../table/table.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { findHits, type Hit } from './find-hits.ts';
import type { SearchRequest } from './search-request.ts';

/** A page of hits, digits kept; `next` is the cursor of the following page, if there is one. */
export interface Page {
  resources: Resource[];
  next: string | undefined;
}

/** A page ends early rather than being longer than an answer may be. */
const mostPageCharacters = 3_500_000;

/**
 * One page of a search. Candidates come from an index; each is matched again against the resource it
 * leads to, so the index may hold too much, never too little.
 * @param admits whether the caller may see a resource
 * @throws {Refusal} invalid: a foreign cursor; too-costly: more resources to read than the budget allows
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
  const page: Hit[] = [];
  let characters = 0;
  let isCut = false;
  for await (const hit of findHits({ table, project, request, admits }, after)) {
    characters += hit.characters;
    isCut = page.length === count || (characters > mostPageCharacters && page.length > 0);
    if (isCut) break;
    page.push(hit);
  }
  const last = page.at(-1);
  return {
    resources: page.map(({ resource }) => resource),
    next: isCut && last ? writeCursor(project, canonical, last.position) : undefined,
  };
}
