import { invalidField, Refusal } from '../../base/refusal.ts';
import { readQuery } from '../../base/schema.ts';
import type { Budget } from '../../carry/table/budget.ts';
import { isResourceType, type SearchParameter } from '../index/registry.ts';
import { compartmentFilter, type Filter, parseFilter, requireParameter, requireReference } from './filter.ts';
import { parseExpression } from './filter-expression.ts';
import type { SortKey } from './hit.ts';

/** A search of one type, checked. */
export interface SearchRequest extends ReturnType<typeof parseControls> {
  type: string;
  filters: readonly Filter[];
  /** Conditions on what a resource refers to, or is referred to by: each is a search of its own first. */
  links: readonly LinkedSearch[];
  cursor: string | undefined;
  /** The search without paging, in one order: equal texts are the same search. */
  canonical: string;
}

/** One `_include` or `_revinclude`: what comes with the hits. */
export interface Include {
  kind: 'include' | 'revinclude';
  /** The type that holds the reference. */
  type: string;
  parameter: SearchParameter;
  target: string | undefined;
  iterates: boolean;
}

/** A chained parameter, `subject:Patient.name`, or a reverse one, `_has:Observation:patient:code`. */
export interface LinkedSearch {
  name: string;
  kind: 'chain' | 'reverse';
  /** What is searched first, and for what. */
  type: string;
  filters: readonly Filter[];
  /** A further reference on the way: its conditions are asked of what is searched first. */
  links: readonly LinkedSearch[];
  /** The reference between the two: of the searched type for a chain, of `type` for a reverse one. */
  parameter: SearchParameter;
}

const summaries = ['true', 'text', 'data', 'count', 'false'] as const;
const totals = ['none', 'estimate', 'accurate'] as const;

const defaultCount = 20;
const mostCount = 1000;
/** More are passed by the links from page to page. */
export const mostOffset = 1000;
const mostConditions = 50;
const mostSortKeys = 5;
const mostIncludes = 20;
const mostReferences = 2;

/** What says which page of a search is meant, and nothing of the search. */
const paging = ['_cursor', '_count', '_offset'];
const inclusions = ['_include', '_include:iterate', '_revinclude', '_revinclude:iterate'];
const controls = new Set([
  ...[...paging, ...inclusions],
  ...['_sort', '_fields', '_elements', '_summary', '_total', '_format', '_pretty'],
]);

/** What it takes to read one alternative of a condition: some 10 µs, for hashes and dates. */
const comparisonsToReadValue = 50;

/** The alternatives of a condition at most, or the words of a `_filter`. */
function alternativesIn(text: string): number {
  let count = 1;
  for (const character of text) if (character === ',' || character === ' ') count++;
  return count;
}

/**
 * Reads the parameters of a search.
 * @param budget what reading them draws on; undefined for those of our own, and for one search of a route of its own
 * @param own our own base URL: references that begin with it are to resources of ours
 * @throws {Refusal} invalid, with the parameter as expression: unknown ones too, never ignored; too-costly
 */
export function parseSearch(
  type: string,
  query: URLSearchParams,
  budget: Budget | undefined,
  own?: string,
): SearchRequest {
  const filters: Filter[] = [];
  const links: LinkedSearch[] = [];
  for (const [name, value] of query) {
    if (controls.has(name)) continue;
    budget?.spend('comparisons', comparisonsToReadValue * alternativesIn(value));
    if (filters.length + links.length === mostConditions) {
      throw invalidField(name, `A search has at most ${mostConditions} conditions`);
    }
    const link = parseLink(type, name, value, { name, own, depth: 1 });
    if (link) links.push(link);
    else if (name === '_filter') filters.push(...parseExpression(type, value));
    else if (name === '_compartment') filters.push(compartmentFilter(type, value));
    else filters.push(...parseFilter(type, name, value, own));
  }
  const given = [...query].filter(([name]) => !paging.includes(name));
  return {
    ...parseControls(type, query),
    ...{ type, filters, links },
    cursor: query.get('_cursor') ?? undefined,
    canonical: JSON.stringify([type, given.map((pair) => pair.join('=')).sort()]),
  };
}

/**
 * The conditions of `param=value&…`, as access policies and scopes write it, on what one resource alone tells: all
 * of them must match. What only pages or sorts is none.
 * @throws {Refusal} invalid, when it cannot be read
 */
export function readCriteria(type: string, query: string): readonly Filter[] {
  const pairs = [...readQuery(query)];
  if (pairs.length === 0) throw new Refusal('invalid', 'The criteria must name a search parameter');
  return pairs.flatMap((pair) => {
    const { filters, links } = parseSearch(type, new URLSearchParams([pair]), undefined);
    const [link] = links;
    if (link) throw invalidField(link.name, 'Criteria cannot look at other resources');
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
  const hasHole = [...readQuery(query).values()].includes('');
  if (hasHole || (of !== type && of !== '*')) return [];
  try {
    return readCriteria(type, query);
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

/**
 * What a search is to answer, beside its conditions.
 * @returns `count`: entries of a page; `offset`: hits that come first and are left out; `fields`: top-level elements to
 *   answer, undefined for all
 * @throws {Refusal} invalid, with the parameter as expression
 */
export function parseControls(type: string, query: URLSearchParams) {
  const fields = query.get('_fields') ?? query.get('_elements');
  const includes = [...query].filter(([name]) => inclusions.includes(name));
  if (includes.length > mostIncludes) {
    throw invalidField('_include', `A search includes at most ${mostIncludes} kinds of reference`);
  }
  const count = query.get('_count') ?? String(defaultCount);
  if (!isWhole(count)) throw invalidField('_count', '_count must be a whole number');
  const offset = query.get('_offset') ?? '0';
  if (!isWhole(offset) || Number(offset) > mostOffset) {
    throw invalidField('_offset', `_offset is a whole number up to ${mostOffset}: follow the links beyond`);
  }
  return {
    count: Math.min(Number(count), mostCount),
    offset: Number(offset),
    sort: parseSort(type, query.getAll('_sort').join()),
    fields: fields === null ? undefined : new Set(fields.split(',').filter(Boolean)),
    summary: oneOf('_summary', summaries, query.get('_summary') ?? 'false'),
    total: oneOf('_total', totals, query.get('_total') ?? 'none'),
    includes: includes.map(([name, value]) => parseInclude(type, name, value)),
  };
}

function isWhole(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function parseSort(type: string, value: string): SortKey[] {
  const keys = value.split(',').filter(Boolean);
  if (keys.length > mostSortKeys) throw invalidField('_sort', `_sort has at most ${mostSortKeys} parameters`);
  return keys.map((text) => {
    const parameter = requireParameter(type, text.replace(/^-/, ''), '_sort');
    if (parameter.composite) throw invalidField('_sort', `${parameter.code} has no order`);
    return { parameter, descending: text.startsWith('-') };
  });
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidField(name, `${name} must be one of ${known.join(', ')}`);
}

function parseInclude(searched: string, name: string, value: string): Include {
  const [type = '', code = '', target, ...rest] = value.split(':');
  const kind = name.startsWith('_rev') ? 'revinclude' : 'include';
  const iterates = name.endsWith(':iterate');
  if (!isResourceType(type) || code === '' || code === '*' || rest.length > 0) {
    throw invalidField(name, `${name} must be Type:parameter or Type:parameter:Type`);
  }
  if (target !== undefined) requireType(target, name);
  if (kind === 'include' && !iterates && type !== searched) {
    throw invalidField(name, `${name} must begin with the searched type, ${searched}`);
  }
  return { kind, type, parameter: requireReference(type, code, name), target, iterates };
}

/** Where a parameter stands: its whole name, and how many references led there. */
interface LinkPlace {
  name: string;
  own: string | undefined;
  depth: number;
}

/**
 * R4 search, chained parameters and reverse chaining, over one reference or two.
 * @param step what is left of the name behind the references before
 * @returns undefined for a parameter of another form
 */
function parseLink(
  searched: string,
  step: string,
  value: string,
  place: LinkPlace,
): LinkedSearch | undefined {
  const { name, depth } = place;
  const isReverse = step.startsWith('_has:');
  if (depth > mostReferences && (isReverse || step.includes('.'))) {
    throw invalidField(name, `A parameter is chained over ${mostReferences} references at most`);
  }
  if (isReverse) {
    const [, type = '', code = '', ...rest] = step.split(':');
    if (rest.length === 0) throw invalidField(name, '_has must be _has:Type:reference:parameter');
    requireType(type, name);
    const parameter = requireReference(type, code, name);
    return { name, kind: 'reverse', type, parameter, ...linked(type, rest.join(':'), value, place) };
  }
  const [, code = '', modifier, rest] = /^([A-Za-z_-]+)(?::([^.]*))?\.(.+)$/s.exec(step) ?? [];
  if (rest === undefined) return undefined;
  const parameter = requireReference(searched, code, name);
  const type = modifier ?? parameter.target;
  if (type === undefined) {
    throw invalidField(name, `Say which type ${code} refers to, such as ${code}:Patient.${rest}`);
  }
  requireType(type, name);
  return { name, kind: 'chain', type, parameter, ...linked(type, rest, value, place) };
}

function linked(
  type: string,
  step: string,
  value: string,
  place: LinkPlace,
): Pick<LinkedSearch, 'filters' | 'links'> {
  const { name, own, depth } = place;
  const link = parseLink(type, step, value, { ...place, depth: depth + 1 });
  if (link) return { filters: [], links: [link] };
  const filters = parseFilter(type, step, value, own);
  if (filters.length === 0) throw invalidField(name, `${name} has no value`);
  return { filters, links: [] };
}

function requireType(type: string, name: string): void {
  if (!isResourceType(type)) throw invalidField(name, `${type} is not a resource type`);
}
