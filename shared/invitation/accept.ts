import { type Audited, auditItem } from '../audit/audit-event.ts';
import { targetOf } from '../audit/who.ts';
import type { Services } from '../services.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import { changeMembership } from './actions.ts';
import { countAdministrator } from './administrators.ts';
import type { Standing } from './state.ts';

/**
 * The person joins: membership active, invitation accepted, an administrator counted. The membership
 * must still have the version that was seen, so that of two who accept one succeeds.
 * @param options.signsIn whether they are signed in by it too
 */
export function acceptActions(
  services: Pick<Services, 'now' | 'newId' | 'traceId'>,
  standing: Standing,
  { signsIn = false }: { signsIn?: boolean } = {},
): Action[] {
  const { membership, invitation } = standing;
  const project = membership.project.reference.replace(/^Project\//, '');
  const author = { reference: membership.profile.reference };
  const stamp = {
    project,
    versionId: services.newId(),
    nowMs: services.now(),
    author,
    trace: services.traceId,
  };
  const { actions } = changeMembership(
    standing,
    {
      rights: membership,
      invitation: { ...invitation, state: 'accepted' },
      active: true,
      ...(signsIn ? { signedInAtMs: stamp.nowMs } : {}),
    },
    stamp,
  );
  const audited: Audited = {
    project,
    subtype: 'accept',
    action: 'U',
    outcome: '0',
    agent: membership.profile,
    entities: [targetOf(membership), membership.user],
  };
  return [
    ...actions,
    ...countAdministrator(project, membership.admin === true ? 1 : 0),
    { name: 'audit', put: auditItem(audited, services.newId(), stamp.nowMs) },
  ];
}

/** Notes when the person has last signed in to this Project: on the head alone, it is no new version. */
export function signInAction({ membership }: Pick<Standing, 'membership'>, nowMs: number): Action {
  return signedInAction(membership.project.reference.replace(/^Project\//, ''), membership.id, nowMs);
}

/** The same for a program. */
export function signedInAction(project: string, membershipId: string, nowMs: number): Action {
  return {
    name: 'signed in',
    update: keys.resource(project, 'ProjectMembership', membershipId),
    set: 'SET signedInAtMs = :now',
    if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
    values: { ':now': nowMs },
  };
}
