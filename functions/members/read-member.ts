import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { noteShown } from '../../shared/disclosure.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { memberView } from './member-view.ts';

/** One membership of the Project, with the state of its invitation and the last sign-in. @throws {Refusal} not-found */
export async function readMember(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: { membershipId: string },
): Promise<Resource> {
  if (!isId(membershipId)) throw new Refusal('not-found', 'Not found');
  const key = keys.resource(caller.project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  const { found } = await admit(services, caller, [key, projectKey]);
  const view = memberView(found.get(key), found.get(projectKey), services.now());
  if (!view) throw new Refusal('not-found', 'Not found');
  if (services.disclosure) noteShown(services.disclosure, view.resource);
  return view.resource;
}
