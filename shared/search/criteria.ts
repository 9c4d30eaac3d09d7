import { Refusal } from '../refusal.ts';
import type { Filter } from './filter.ts';
import { parseCriteria } from './search-request.ts';

/**
 * The conditions of `param=value&…`, as access policies and scopes write it: all of them must match.
 * What only pages or sorts is none.
 * @throws {Refusal} invalid, when it cannot be read
 */
export function readCriteria(type: string, query: string): readonly Filter[] {
  const pairs = [...new URLSearchParams(query)];
  if (pairs.length === 0) throw new Refusal('invalid', 'The criteria must name a search parameter');
  return pairs.flatMap((pair) => {
    const filters = parseCriteria(type, new URLSearchParams([pair]).toString());
    if (filters.length > 0) return filters;
    throw new Refusal('invalid', `${pair[0]} narrows nothing`);
  });
}

/**
 * The conditions of `Type?param=value&…` for resources of a type; `*?…` is for every type. None when it
 * cannot be read, has a parameter without value, or is for another type: then it matches nothing.
 */
export function criteriaFilters(criteria: string, type: string): readonly Filter[] {
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  // A variable that holds the empty text must not match more than one that holds a name.
  const hasHole = [...new URLSearchParams(query).values()].includes('');
  if (hasHole || (of !== type && of !== '*')) return [];
  try {
    return readCriteria(type, query);
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}
