import { admit, requireAdministrator } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';

/** The administrator's own Project. @throws {Refusal} forbidden, the same for every other id */
export async function readProject(
  services: Services,
  caller: Caller,
  { projectId }: { projectId: string },
): Promise<{ project: Resource }> {
  const key = keys.resource(caller.project, 'Project', caller.project);
  const { actor, found } = await admit(services, caller, [key]);
  requireAdministrator(actor, projectId);
  const project = resourceOf(found.get(key));
  if (!project) throw new Refusal('not-found', 'Not found');
  return { project };
}
