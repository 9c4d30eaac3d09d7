import { numberOf } from '../../shared/base/json.ts';
import { longestSearchValue } from '../../shared/base/limits.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { referencesOf } from '../../shared/store/index/reference.ts';
import { parametersOf, type SearchParameter } from '../../shared/store/index/registry.ts';
import { textsOf } from '../../shared/store/index/text.ts';
import { tokensOf } from '../../shared/store/index/token.ts';
import { fieldOf, listOf, textOf, type Value, valuesOf } from '../../shared/store/index/value.ts';

/** A search that a resource is to be found by. */
export interface OwnSearch {
  code: string;
  name: string;
  value: string;
}

/** A terminology has thousands of codes. */
const mostValues = 10;

/** Searches for the values of each indexed parameter of a resource, ten each at most. */
export function ownSearches(resource: Resource): OwnSearch[] {
  return [...parametersOf(resource.resourceType).values()]
    .filter(({ index, code }) => index !== undefined || code === '_id')
    .flatMap((parameter) => {
      const asked = valuesOf(resource, parameter).flatMap((value) => searchesFor(parameter, value));
      return [...new Set(asked)]
        .filter(({ length }) => length <= longestSearchValue)
        .slice(0, mostValues)
        .map((value) => ({ code: parameter.code, name: parameter.code, value }));
    });
}

function searchesFor({ type }: SearchParameter, value: Value): string[] {
  switch (type) {
    case 'token':
      // No index leads to what nearly all have.
      return tokensOf(value).flatMap(({ system, value: code, implied }) =>
        code === undefined || (value.type === '$deceased' && code === 'false')
          ? []
          : implied
            ? escaped(code)
            : `${escaped(system ?? '')}|${escaped(code)}`,
      );
    case 'string':
      return textsOf(value)
        .filter((text) => text.trim() !== '')
        .map(escaped);
    case 'reference':
      return referencesOf(value).map(escaped);
    case 'uri':
      return [textOf(value.value) ?? []].flat().map(escaped);
    case 'date':
      return datesIn(value);
    default:
      return numbersIn(value, type === 'quantity');
  }
}

function datesIn({ type, value }: Value): string[] {
  if (type === 'Timing') return listOf(fieldOf(value, 'event')).flatMap((event) => textOf(event) ?? []);
  if (type !== 'Period') return [textOf(value) ?? []].flat();
  const [start, end] = [textOf(fieldOf(value, 'start')), textOf(fieldOf(value, 'end'))];
  return [...(start ? [`ge${start}`, `ap${start}`] : []), ...(end ? [`le${end}`] : [])];
}

function numbersIn({ type, value }: Value, isQuantity: boolean): string[] {
  if (type === 'Range') {
    const low = numberOf(fieldOf(fieldOf(value, 'low'), 'value'));
    return low === undefined ? [] : [`ge${low}`];
  }
  const number = numberOf(value) ?? numberOf(fieldOf(value, 'value'));
  if (number === undefined) return [];
  const [system, code] = [textOf(fieldOf(value, 'system')), textOf(fieldOf(value, 'code'))];
  return [isQuantity && system && code ? `${number}|${escaped(system)}|${escaped(code)}` : `${number}`];
}

function escaped(text: string): string {
  return text.replace(/[\\,|$]/g, '\\$&');
}
