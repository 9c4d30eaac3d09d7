import { auditItem } from '../../shared/audit/audit-event.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { firstAdministrator } from './first-administrator.ts';
import { knownAdministrator, type NewAdministrator, type Provisioned } from './provision.ts';

/** The event that gives a Project another administrator, where the last one has left for good. */
export interface AddRequest {
  /** Id of a Project. */
  project: string;
  admin: NewAdministrator;
}

/**
 * Invites an administrator into a Project that is there; with a password, a member at once.
 * @throws {Error} when there is no such Project, or it knows this person already
 */
export async function addAdministrator(services: Services, request: AddRequest): Promise<Provisioned> {
  const { project, admin } = request;
  const known = await knownAdministrator(services, admin);
  const projectKey = keys.resource(project, 'Project', project);
  const head = (await services.table.read([projectKey])).get(projectKey);
  const resource = inlineResource('Project', head);
  if (!resource) throw new Error('There is no such Project');
  const name = String(resource.name ?? project);
  const reference = { reference: `Project/${project}`, display: name };
  const author = { reference: 'system' };
  const stamp = { project, nowMs: services.now(), author, newId: services.newId };
  const { password } = admin;
  const about = { ...admin, ...known, password, project: reference, invitationDays: undefined };
  const member = await firstAdministrator(about, stamp);
  const event = {
    ...({ project, subtype: 'provision', action: 'C', outcome: '0' } as const),
    agent: author,
    entities: member.made,
  };
  try {
    await services.table.transact([
      // Nobody joins a Project that is being deleted: they would outlive it.
      {
        name: 'project',
        check: projectKey,
        if: 'attribute_exists(pk) AND attribute_not_exists(deletion)',
      },
      ...member.actions,
      { name: 'audit', put: auditItem(event, services.newId(), stamp.nowMs) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.failed.has('project')) throw new Error('The Project is being deleted');
    throw new Error('The Project knows this person already: an administrator of it, or --recover, can help');
  }
  return { project: { id: project, name }, admin: { email: known.email, membershipId: member.membershipId } };
}
