import { invalidField } from '../refusal.ts';
import { compartmentFilter } from './compartment-filter.ts';
import { type Controls, isControl, parseControls } from './controls.ts';
import type { Filter } from './filter.ts';
import { parseExpression } from './filter-expression.ts';
import { type Link, parseLink } from './link.ts';
import { type OwnBase, parseFilter } from './parse-filter.ts';

/** A search of one type, checked. */
export interface SearchRequest extends Controls {
  type: string;
  filters: readonly Filter[];
  /** Conditions on what a resource refers to, or is referred to by: each is a search of its own first. */
  links: readonly Link[];
  cursor: string | undefined;
  /** The search without paging, in one order: equal texts are the same search. */
  canonical: string;
}

const mostConditions = 50;

/** What says which page of a search is meant, and nothing of the search. */
const paging = new Set(['_cursor', '_count', '_offset']);

/**
 * Reads the parameters of a search.
 * @param own our own base URL: references that begin with it are to resources of ours
 * @throws {Refusal} invalid, with the parameter as expression: unknown ones too, never ignored
 */
export function parseSearch(type: string, query: URLSearchParams, own?: OwnBase): SearchRequest {
  const filters: Filter[] = [];
  const links: Link[] = [];
  for (const [name, value] of query) {
    if (name === '_cursor' || isControl(name)) continue;
    if (filters.length + links.length === mostConditions) {
      throw invalidField(name, `A search has at most ${mostConditions} conditions`);
    }
    const link = parseLink(type, name, value, own);
    if (link) links.push(link);
    else if (name === '_filter') filters.push(...parseExpression(type, value));
    else if (name === '_compartment') filters.push(compartmentFilter(type, value));
    else filters.push(...parseFilter(type, name, value, own));
  }
  const given = [...query].filter(([name]) => !paging.has(name));
  return {
    ...parseControls(type, query),
    type,
    filters,
    links,
    cursor: query.get('_cursor') ?? undefined,
    canonical: JSON.stringify([type, given.map((pair) => pair.join('=')).sort()]),
  };
}

/**
 * The conditions of `Type?param=value&…`, as access policies write it: what one resource alone tells.
 * @throws {Refusal} invalid, when it cannot be read
 */
export function parseCriteria(type: string, text: string): readonly Filter[] {
  const { filters, links } = parseSearch(type, new URLSearchParams(text));
  const [link] = links;
  if (link) throw invalidField(link.name, 'Criteria cannot look at other resources');
  return filters;
}
