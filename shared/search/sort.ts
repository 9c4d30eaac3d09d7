import type { Resource } from '../fhir/resource.ts';
import { datesOf } from '../index/date.ts';
import { numbersOf } from '../index/number.ts';
import { referencesOf } from '../index/reference.ts';
import type { Parameter } from '../index/registry.ts';
import { normaliseText, textsOf } from '../index/text.ts';
import { tokensOf } from '../index/token.ts';
import { textOf, type Value, valuesOf } from '../index/value.ts';

/** One parameter of `_sort`. */
export interface SortKey {
  parameter: Parameter;
  descending: boolean;
}

/** What a resource is put in order by: a text for each key, null where it has no value; then its id. */
export interface Rank {
  values: readonly (string | null)[];
  id: string;
}

/** The lowest value when ascending, the highest when descending (R4 search, `_sort`). */
export function rankOf(resource: Resource, sort: readonly SortKey[]): Rank {
  const values = sort.map(({ parameter, descending }) => {
    const texts = valuesOf(resource, parameter).flatMap((value) => sortable(parameter, value));
    return texts.reduce<string | null>(
      (best, text) => (best === null || (descending ? text > best : text < best) ? text : best),
      null,
    );
  });
  return { values, id: resource.id };
}

/** Resources without a value come last, whatever the direction; equal ones by id. */
export function compareRanks(a: Rank, b: Rank, sort: readonly SortKey[]): number {
  for (const [i, { descending }] of sort.entries()) {
    const [x = null, y = null] = [a.values[i], b.values[i]];
    if (x === y) continue;
    if (x === null || y === null) return x === null ? 1 : -1;
    return x < y === descending ? 1 : -1;
  }
  if (a.id === b.id) return 0;
  return a.id < b.id === (sort[0]?.descending ?? false) ? 1 : -1;
}

/** Whether the index of the parameter holds its values in their order. */
export function isOrdered({ type, index }: Parameter): boolean {
  return index !== undefined && (type === 'date' || type === 'number' || type === 'quantity');
}

function sortable({ type }: Parameter, value: Value): string[] {
  switch (type) {
    case 'date':
      return datesOf(value).map(({ low }) => low);
    case 'number':
    case 'quantity':
      return numbersOf(value).map(({ low }) => low);
    case 'string':
      return textsOf(value).map(normaliseText);
    case 'token':
      return tokensOf(value).flatMap((token) => token.value?.toLowerCase() ?? []);
    case 'reference':
      return referencesOf(value);
    case 'composite':
      return [];
    case 'uri':
      return [textOf(value.value) ?? []].flat();
  }
}
