import type { Resource } from '../fhir/resource.ts';
import { type Key, keys } from '../table/keys.ts';
import { placesOf } from './filter.ts';
import { parametersOf } from './registry.ts';

/**
 * The keys of all index items of a resource, each once. Together they lead to the resource from
 * every value that a search parameter sees in it.
 */
export function indexKeys(project: string, resource: Resource): Map<string, Key> {
  const found = new Map<string, Key>();
  for (const parameter of parametersOf(resource.resourceType).values()) {
    if (parameter.index === undefined) continue;
    for (const { bucket, sort } of placesOf(parameter, resource)) {
      const key = indexKey(project, resource, parameter.index, { bucket, sort });
      found.set(`${key.pk}\n${key.sk}`, key);
    }
  }
  return found;
}

function indexKey(
  project: string,
  { resourceType, id }: Resource,
  index: string,
  { bucket, sort }: { bucket: string; sort: string | undefined },
): Key {
  return keys.index(project, resourceType, index, bucket, sort === undefined ? id : `${sort}#${id}`);
}

/** The id at the end of an index item's sort key. */
export function indexedId(sk: string): string {
  return sk.slice(sk.lastIndexOf('#') + 1);
}
