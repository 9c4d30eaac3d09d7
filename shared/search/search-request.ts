import type { Resource } from '../fhir/resource.ts';
import { invalidField } from '../refusal.ts';
import { createFilter, type Filter, InvalidFilter } from './filter.ts';
import { parametersOf } from './registry.ts';

/** A search of one type, checked. */
export interface SearchRequest {
  type: string;
  filters: readonly Filter[];
  /** Entries of a page. */
  count: number;
  /** By `_lastUpdated`, when asked. */
  sort: 'oldest first' | 'newest first' | undefined;
  /** Top-level elements to answer; undefined for all. */
  fields: readonly string[] | undefined;
  cursor: string | undefined;
  /** The search without paging, in one order: equal texts are the same search. */
  canonical: string;
}

const defaultCount = 20;
const mostCount = 1000;

/**
 * Reads the parameters of a search.
 * @throws {Refusal} invalid, with the parameter as expression: unknown ones too, never ignored
 */
export function parseSearch(type: string, query: URLSearchParams): SearchRequest {
  const filters: Filter[] = [];
  const search: Omit<SearchRequest, 'filters' | 'canonical'> = {
    type,
    count: defaultCount,
    sort: undefined,
    fields: undefined,
    cursor: undefined,
  };
  for (const [name, value] of query) {
    if (name === '_count') search.count = parseCount(value);
    else if (name === '_sort') search.sort = parseSort(value);
    else if (name === '_fields' || name === '_elements') search.fields = value.split(',').filter(Boolean);
    else if (name === '_cursor') search.cursor = value;
    else if (name === '_format' || name === '_pretty') continue;
    else filters.push(...parseFilter(type, name, value));
  }
  const given = [...query].filter(([name]) => name !== '_cursor' && name !== '_count');
  return {
    ...search,
    filters,
    canonical: JSON.stringify([type, given.map((pair) => pair.join('=')).sort()]),
  };
}

/**
 * Whether a resource is a hit of `Type?param=value&…`, as access policies write it.
 * @throws {Refusal} invalid, when it cannot be read
 */
export function matchesQuery(resource: Resource, query: string): boolean {
  const [type = '', text = ''] = splitOnce(query, '?');
  if (type !== resource.resourceType) return false;
  return matchesFilters(resource, parseSearch(type, new URLSearchParams(text)).filters);
}

export function matchesFilters(resource: Resource, filters: readonly Filter[]): boolean {
  return filters.every((filter) => filter.matches(resource));
}

function parseFilter(type: string, name: string, value: string): Filter[] {
  const [code = '', modifier] = splitOnce(name, ':');
  const parameter = parametersOf(type).get(code);
  if (!parameter) throw invalidField(name, `Unknown search parameter ${code} of ${type}`);
  // A text that every text starts with narrows nothing; a picker sends it before anything is typed.
  if (parameter.type === 'string' && value === '') return [];
  try {
    return [createFilter(parameter, modifier, value.split(/(?<!\\),/))];
  } catch (error) {
    if (error instanceof InvalidFilter) throw invalidField(name, error.message);
    throw error;
  }
}

function parseCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw invalidField('_count', '_count must be a whole number');
  return Math.min(Number(value), mostCount);
}

function parseSort(value: string): SearchRequest['sort'] {
  if (value === '_lastUpdated') return 'oldest first';
  if (value === '-_lastUpdated') return 'newest first';
  throw invalidField('_sort', '_sort must be _lastUpdated or -_lastUpdated');
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}
