import type { ProjectMembership } from '../fhir/membership.ts';
import type { Resource } from '../fhir/resource.ts';
import { membershipSchema, readResource } from '../fhir/stored-resource.ts';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { parseHead } from '../table/keys.ts';
import type { InlineType } from './inline-types.ts';
import { unpackText } from './packing.ts';

/** The attributes of a head, beside its key, that `inlineResource` looks at. */
export const inlineAttributes = ['content', 'deleted'] as const;

/**
 * The resource of a head whose type keeps its content inline.
 * @returns undefined when there is none, or it was deleted
 * @throws {Error} when the item is not the head of a resource of that type
 */
export function inlineResource<Type extends InlineType>(
  type: Type,
  item: Item | undefined,
): InlineResource<Type> | undefined;
export function inlineResource(type: InlineType, item: Item | undefined): Resource | undefined {
  if (!item || item.deleted === true) return undefined;
  if (typeOfHead(item) !== type) throw new Error(`The item is not the head of a resource of type ${type}`);
  const resource: object = JSON.parse(unpackText(item.content));
  return type === 'ProjectMembership' ? readMembership(resource) : readResource(resource);
}

const readMembership = stored('ProjectMembership', membershipSchema);

/** What is known of a resource by its type. */
type InlineResource<Type extends InlineType> = Type extends 'ProjectMembership'
  ? ProjectMembership
  : Resource;

/** Whether a head is that of a resource that exists: what its content says is not asked. */
export function isStanding(item: Item | undefined): item is Item {
  return item !== undefined && item.deleted !== true;
}

/** Users live above Projects, under keys of their own. */
function typeOfHead(item: Item): string | undefined {
  return item.pk.startsWith('U#') ? 'User' : parseHead(item)?.type;
}
