import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { standingOf, withInvitation } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';

/** One membership of the Project, with the state of its invitation. @throws {Refusal} not-found */
export async function readMember(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: { membershipId: string },
): Promise<Resource> {
  if (!isId(membershipId)) throw new Refusal('not-found', 'Not found');
  const key = keys.resource(caller.project, 'ProjectMembership', membershipId);
  const { found } = await admit(services, caller, [key]);
  const membership = inlineResource('ProjectMembership', found.get(key));
  if (!membership) throw new Refusal('not-found', 'Not found');
  return withInvitation(membership, standingOf(found.get(key))?.invitation, services.now());
}
