import { admit, requireAdministrator } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { standingOf, withInvitation } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';

/** One membership of the Project, with the state of its invitation. @throws {Refusal} forbidden, not-found */
export async function readMember(
  services: Services,
  caller: Caller,
  { projectId, membershipId }: { projectId: string; membershipId: string },
): Promise<Resource> {
  if (!isId(membershipId)) throw new Refusal('not-found', 'Not found');
  const key = keys.resource(caller.project, 'ProjectMembership', membershipId);
  const { actor, found } = await admit(services, caller, [key]);
  requireAdministrator(actor, projectId);
  const membership = resourceOf(found.get(key));
  if (!membership) throw new Refusal('not-found', 'Not found');
  return withInvitation(membership, standingOf(found.get(key))?.invitation, services.now());
}
