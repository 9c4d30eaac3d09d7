import type { Resource } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import type { Key } from '../table/keys.ts';
import { entryKeys } from './entry-index.ts';
import { indexPartition } from './partition.ts';
import { compartmentIndex, compartmentPlaces } from './patient-index.ts';
import { placesOf, sortKeyOf } from './places.ts';
import { parametersOf } from './registry.ts';
import type { Place } from './span.ts';

/**
 * The keys of all index items of a resource, each once. Together they lead to the resource from
 * every value that a search parameter sees in it, and from every Patient that it is about; audit entries
 * have an index of their own.
 * @param most more than so many are refused
 * @throws {Refusal} too-costly
 */
export function indexKeys(
  project: string,
  resource: Resource,
  most = Number.POSITIVE_INFINITY,
): Map<string, Key> {
  const found = new Map<string, Key>();
  if (resource.resourceType === 'AuditEvent') {
    for (const key of entryKeys(project, resource)) found.set(`${key.pk}\n${key.sk}`, key);
    return found;
  }
  const add = (index: string, places: readonly Place[]) => {
    for (const place of places) {
      const { pk } = indexPartition(project, resource.resourceType, index, place.bucket);
      const key = { pk, sk: sortKeyOf(place, resource.id) };
      found.set(`${key.pk}\n${key.sk}`, key);
      if (found.size > most) throw tooManyValues(resource.resourceType, most);
    }
  };
  for (const parameter of parametersOf(resource.resourceType).values()) {
    if (parameter.index !== undefined && !parameter.within)
      add(parameter.index, placesOf(parameter, resource));
  }
  add(compartmentIndex, compartmentPlaces(resource));
  return found;
}

function tooManyValues(type: string, most: number): Refusal {
  const text = `The ${type} has more than ${most} values that searches look at (names, identifiers, references, codes, dates)`;
  return new Refusal('too-costly', `${text}: divide it`);
}
