import type { Resource } from '../fhir/resource.ts';
import { datesOf, isNarrowDate } from './date.ts';
import { type MemberPlace, memberSort } from './member-place.ts';
import { isPoint, numbersOf } from './number.ts';
import { compartmentIndex, compartmentPlaces } from './patient-index.ts';
import { rangePlaces } from './range.ts';
import { referencePlaces } from './reference.ts';
import { type Parameter, parametersOf } from './registry.ts';
import { idIndex, type Place } from './span.ts';
import { cut, normaliseText, textPlaces } from './text.ts';
import { tokenPlaces } from './token.ts';
import { uriBuckets } from './uri.ts';
import { fieldOf, textOf, valuesOf } from './value.ts';

/** The index items of a resource for one parameter. */
export function placesOf(parameter: Parameter, resource: Resource): Place[] {
  const values = valuesOf(resource, parameter);
  switch (parameter.type) {
    case 'token':
      if (isByMember(parameter, resource)) {
        return tokenPlaces(values).map(({ bucket, sort = '' }) => ({
          bucket,
          sort: memberSort(sort, memberPlace(resource)),
        }));
      }
      return tokenPlaces(values);
    case 'string':
      return textPlaces(values);
    case 'reference':
      return referencePlaces(values);
    case 'uri':
      return uriBuckets(values).map((bucket) => ({ bucket }));
    case 'date':
      return rangePlaces(values.flatMap(datesOf), resource.id, isNarrowDate);
    default:
      return rangePlaces(values.flatMap(numbersOf), resource.id, isPoint);
  }
}

/** The index that the list of members is read from. */
function isByMember({ index }: Parameter, { resourceType }: Resource): boolean {
  return resourceType === 'ProjectMembership' && index === 'profile-type';
}

/** What the list of members is sorted and searched by. */
export function memberPlace(membership: Resource): MemberPlace {
  const display = textOf(fieldOf(membership.profile, 'display')) ?? '';
  const address = textOf(membership.userName) ?? '';
  return { name: cut(normaliseText(display)), address: normaliseText(address) };
}

/** The places of a resource in one index, whichever parameters share it. */
export function placesIn(index: string, resource: Resource): Place[] {
  if (index === idIndex) return [{ bucket: resource.id }];
  if (index === compartmentIndex) return compartmentPlaces(resource);
  return [...parametersOf(resource.resourceType).values()]
    .filter((parameter) => parameter.index === index && !parameter.within)
    .flatMap((parameter) => placesOf(parameter, resource));
}

/** The sort key of an index item: the value, where it has an order, and the id. */
export function sortKeyOf({ sort }: Place, id: string): string {
  return sort === undefined ? id : `${sort}#${id}`;
}

/** What stands before the id in an index item's sort key; empty for nothing. */
export function sortOf(sk: string): string {
  return sk.slice(0, Math.max(0, sk.lastIndexOf('#')));
}

/** The id at the end of an index item's sort key. */
export function indexedId(sk: string): string {
  return sk.slice(sk.lastIndexOf('#') + 1);
}
