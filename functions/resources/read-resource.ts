import { type Actor, admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { type Reading, visible } from '../../shared/auth/visible.ts';
import { parseJson } from '../../shared/fhir/json.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { contentText, withContent } from '../../shared/table/content.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Item } from '../../shared/table/table.ts';
import { getVersion } from '../../shared/table/versions.ts';

/** A resource as the caller may see it, digits kept, with the item that it was read from. */
export interface Read {
  resource: Resource;
  item: Item;
}

/**
 * Reads a resource as it stands, or one of its versions.
 * @throws {Refusal} not-found, gone, forbidden
 */
export async function readResource(
  services: Services,
  caller: Caller,
  { type, id, versionId }: { type: string; id: string; versionId?: string },
): Promise<Read> {
  const { table } = services;
  const key = headKey(caller, type, id);
  const { actor, found } = await admit(services, caller, key ? [key] : []);
  const head = key && found.get(key);
  if (!head) throw new Refusal('not-found', 'Not found');
  const target = { project: caller.project, type, id };
  const item =
    versionId === undefined
      ? await withContent(table, caller.project, head)
      : await getVersion(table, target, head, versionId);
  if (!item) throw new Refusal('not-found', 'Not found');
  if (item.deleted === true) throw new Refusal('gone', 'Gone');
  const resource = parseJson(contentText(item)) as Resource;
  return {
    resource: await requireVisible(actor, versionId === undefined ? 'read' : 'vread', resource),
    item,
  };
}

/** The head of a User is above Projects: only the User sees it. */
export function headKey(caller: Caller, type: string, id: string) {
  if (!isId(id)) return undefined;
  if (type !== 'User') return keys.resource(caller.project, type, id);
  if (caller.subject !== id) {
    throw new Refusal('forbidden', 'A User is seen by that user only; see admin/projects/<id>/members');
  }
  return keys.user(id);
}

async function requireVisible(actor: Actor, interaction: Reading, resource: Resource): Promise<Resource> {
  // Every user may read the own User.
  if (resource.resourceType === 'User') return resource;
  const shown = await visible(actor, interaction, resource);
  if (!shown) throw new Refusal('forbidden', 'Forbidden');
  return shown;
}
