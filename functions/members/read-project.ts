import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { auditsReads } from '../../shared/project-settings.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';

/** The administrator's own Project, and whether AuditEvents are kept of what is read in it. @throws {Refusal} not-found */
export async function readProject(
  services: Services,
  caller: Caller<'administrator'>,
): Promise<{ project: Resource; auditReads: boolean }> {
  const key = keys.resource(caller.project, 'Project', caller.project);
  const { found } = await admit(services, caller, [key]);
  const project = inlineResource('Project', found.get(key));
  if (!project) throw new Refusal('not-found', 'Not found');
  return { project, auditReads: auditsReads(found.get(key)) };
}
