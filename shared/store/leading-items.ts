import type { Resource } from '../fhir/resource.ts';
import { indexKeys } from '../index/index-items.ts';
import type { Item } from '../table/item.ts';
import { indexItems } from './change.ts';

/** The index items that lead to a resource. What leads to a record is forgotten with it. */
export function leadingItems(project: string, resource: Resource, { versionId, ttl }: Item): Item[] {
  const items = indexItems(indexKeys(project, resource).values(), String(versionId));
  return ttl === undefined ? items : items.map((item) => ({ ...item, ttl }));
}
