import type { Resource } from '../fhir/resource.ts';
import { type Key, keys } from '../table/keys.ts';
import { compartmentIndex, compartmentPlaces } from './patient-index.ts';
import { placesOf, sortKeyOf } from './places.ts';
import { parametersOf } from './registry.ts';
import type { Place } from './span.ts';

/**
 * The keys of all index items of a resource, each once. Together they lead to the resource from
 * every value that a search parameter sees in it, and from every Patient that it is about.
 */
export function indexKeys(project: string, resource: Resource): Map<string, Key> {
  const found = new Map<string, Key>();
  const add = (index: string, places: readonly Place[]) => {
    for (const place of places) {
      const { pk } = indexPartition(project, resource.resourceType, index, place.bucket);
      const key = { pk, sk: sortKeyOf(place, resource.id) };
      found.set(`${key.pk}\n${key.sk}`, key);
    }
  };
  for (const parameter of parametersOf(resource.resourceType).values()) {
    if (parameter.index !== undefined) add(parameter.index, placesOf(parameter, resource));
  }
  add(compartmentIndex, compartmentPlaces(resource));
  return found;
}

/** The partition of a bucket; the compartments of all types are in one index. */
export function indexPartition(project: string, type: string, index: string, bucket: string): { pk: string } {
  const { pk } = keys.index(project, index === compartmentIndex ? '_all' : type, index, bucket, '');
  return { pk };
}
