import { invalidField } from '../refusal.ts';
import { type Include, parseInclude } from './include.ts';
import { requireParameter } from './parameter.ts';
import type { SortKey } from './sort.ts';

/** What a search is to answer, beside its conditions. */
export interface Controls {
  /** Entries of a page. */
  count: number;
  /** Hits that come first and are left out. */
  offset: number;
  sort: readonly SortKey[];
  /** Top-level elements to answer; undefined for all. */
  fields: readonly string[] | undefined;
  summary: Summary;
  total: 'none' | 'estimate' | 'accurate';
  includes: readonly Include[];
}

const summaries = ['true', 'text', 'data', 'count', 'false'] as const;
type Summary = (typeof summaries)[number];
const totals = ['none', 'estimate', 'accurate'] as const;

const defaultCount = 20;
/** More are passed by the links from page to page. */
export const mostOffset = 1000;
const mostCount = 1000;
const mostSortKeys = 5;
const mostIncludes = 20;

const names = new Set([
  '_count',
  '_offset',
  '_sort',
  '_fields',
  '_elements',
  '_summary',
  '_total',
  '_include',
  '_include:iterate',
  '_revinclude',
  '_revinclude:iterate',
  '_format',
  '_pretty',
]);

export function isControl(name: string): boolean {
  return names.has(name);
}

/** @throws {Refusal} invalid, with the parameter as expression */
export function parseControls(type: string, query: URLSearchParams): Controls {
  const fields = query.get('_fields') ?? query.get('_elements');
  const includes = [...query].filter(([name]) => /^_(rev)?include/.test(name) && isControl(name));
  if (includes.length > mostIncludes) {
    throw invalidField('_include', `A search includes at most ${mostIncludes} kinds of reference`);
  }
  return {
    count: parseCount(query.get('_count')),
    offset: parseOffset(query.get('_offset')),
    sort: parseSort(type, query.getAll('_sort').join()),
    fields: fields === null ? undefined : fields.split(',').filter(Boolean),
    summary: oneOf('_summary', summaries, query.get('_summary') ?? 'false'),
    total: oneOf('_total', totals, query.get('_total') ?? 'none'),
    includes: includes.map(([name, value]) => parseInclude(type, name, value)),
  };
}

function parseCount(value: string | null): number {
  if (value === null) return defaultCount;
  if (!/^\d{1,9}$/.test(value)) throw invalidField('_count', '_count must be a whole number');
  return Math.min(Number(value), mostCount);
}

function parseOffset(value: string | null): number {
  if (value === null) return 0;
  if (/^\d{1,9}$/.test(value) && Number(value) <= mostOffset) return Number(value);
  throw invalidField('_offset', `_offset is a whole number up to ${mostOffset}: follow the links beyond`);
}

function parseSort(type: string, value: string): SortKey[] {
  const keys = value.split(',').filter(Boolean);
  if (keys.length > mostSortKeys) throw invalidField('_sort', `_sort has at most ${mostSortKeys} parameters`);
  return keys.map((text) => {
    const descending = text.startsWith('-');
    const parameter = requireParameter(type, descending ? text.slice(1) : text, '_sort');
    if (parameter.composite) throw invalidField('_sort', `${parameter.code} has no order`);
    return { parameter, descending };
  });
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidField(name, `${name} must be one of ${known.join(', ')}`);
}
