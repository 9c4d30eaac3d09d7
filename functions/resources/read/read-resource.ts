import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { visible } from '../../../shared/access/visible.ts';
import { isId, type Resource } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { openState } from '../../../shared/store/content.ts';
import { getVersion, standingState } from '../../../shared/store/versions.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';

/** A resource as the caller may see it, digits kept, with the item that it was read from. */
export interface Read {
  resource: Resource;
  item: Item;
}

/**
 * Reads a resource as it stands, or one of its versions. Who may not see the resource as it stands learns
 * neither of its versions nor of its deletion.
 * @throws {Refusal} not-found, gone, forbidden
 */
export async function readResource(
  services: Services,
  caller: Caller,
  { type, id, versionId }: { type: string; id: string; versionId?: string },
): Promise<Read> {
  const { table } = services;
  const { project } = caller;
  const key = headKey(caller, type, id);
  const { actor, found } = await admit(services, caller, key ? [key] : []);
  const head = key && found.get(key);
  if (!head) throw new Refusal('not-found', 'Not found');

  const interaction = versionId === undefined ? 'read' : 'vread';
  // Every user may read the own User: no policy speaks of it.
  const see = (state: Resource, standing?: Resource) =>
    type === 'User' ? state : visible(actor, interaction, state, standing ? { standing } : {});
  const target = { project, type, id };
  const standing = await standingState(table, target, head);
  const shown = standing && (await see(standing.resource));
  if (!standing || !shown) throw new Refusal('forbidden', 'Forbidden');
  const item = versionId === undefined ? head : await getVersion(table, target, head, versionId);
  if (!item) throw new Refusal('not-found', 'Not found');
  if (item.deleted === true) throw new Refusal('gone', 'Gone');
  if (item === head) return { resource: shown, item };
  const version = await openState({ table, project }, item);
  const resource = version && (await see(version.resource, standing.resource));
  if (!resource) throw new Refusal('forbidden', 'Forbidden');
  return { resource, item };
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
