import { latestGrant } from '../../shared/access/emergency.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { changeMembership, issueInvitation, outboxAction } from '../../shared/invitation/actions.ts';
import { countAdministrator } from '../../shared/invitation/administrators.ts';
import { endedByActions } from '../../shared/invitation/emergency-access.ts';
import type { Invite } from '../../shared/invitation/parse-invite.ts';
import type { Invitation } from '../../shared/invitation/state.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';
import { createMember } from './create-member.ts';
import type { Decision } from './decide.ts';
import type { Gathered } from './gather.ts';

/** What the caller is answered, once the actions are written; none when nothing changes. */
export interface Outcome {
  membership: Resource;
  invitation: Invitation;
  actions: Action[];
}

/** The decision as one transaction. */
export function carryOut(
  services: Pick<Services, 'now' | 'newId' | 'traceId'>,
  invite: Invite,
  gathered: Gathered,
  decision: Decision,
  passwordHash: string | undefined,
): Outcome {
  const { actor } = gathered;
  const author = { reference: actor.profile };
  const { now, newId, traceId: trace } = services;
  const stamp = { project: actor.project, nowMs: now(), author, newId, trace };
  if (decision.kind === 'create') {
    const created = createMember(invite, gathered, decision.replaces, stamp);
    const password: Action[] =
      passwordHash && created.newUserId
        ? [{ name: 'password', put: { ...keys.password(created.newUserId), hash: passwordHash } }]
        : [];
    const ended = decision.replaces.map(({ membership }) => ({
      ...targetOf(membership),
      detail: [{ type: 'interaction', valueString: 'deleted' }],
    }));
    return { ...created, actions: [...created.actions, ...password, audit(created.membership, 'C', ended)] };
  }

  const { standing } = decision;
  const { membership, invitation } = standing;
  if (decision.kind === 'keep' && !decision.mail) return { membership, invitation, actions: [] };
  const next = nextInvitation(decision, invite, gathered.invitationDays, stamp.nowMs);
  const rights = decision.kind === 'keep' ? membership : decision.rights;
  const heads = gathered.emergencyHeadsOf(membership.id);
  const changed = changeMembership(
    standing,
    { rights, invitation: next, emergencyTakenAtMs: latestGrant(heads.member)?.startedAtMs },
    { ...stamp, versionId: services.newId() },
  );
  const mail = decision.kind !== 'update' && invite.sendEmail && invite.email;
  return {
    membership: changed.membership,
    invitation: next,
    actions: [
      ...changed.actions,
      ...(mail ? [outboxAction(stamp.project, membership.id, mail, next)] : []),
      ...(decision.kind === 'update' ? countChange(stamp.project, membership, changed.membership) : []),
      audit(changed.membership, 'U'),
      ...(changed.membership.emergencyPolicy?.reference === membership.emergencyPolicy?.reference
        ? []
        : endedByActions(services, actor, membership, heads)),
    ],
  };

  function audit(membership: ProjectMembership, action: 'C' | 'U', ended: Audited['entities'] = []): Action {
    const entities = [
      targetOf(membership),
      { reference: membership.profile.reference },
      membership.user,
      ...ended,
    ];
    const event: Audited = {
      project: stamp.project,
      subtype: 'invite',
      action,
      outcome: '0',
      ...doneBy(actor),
      entities,
    };
    return { name: 'audit', put: auditItem(event, services.newId(), stamp.nowMs) };
  }
}

function nextInvitation(
  decision: Exclude<Decision, { kind: 'create' }>,
  invite: Invite,
  days: number | undefined,
  nowMs: number,
): Invitation {
  const { invitation } = decision.standing;
  if (decision.kind === 'renew') return issueInvitation(invitation.generation, invite.sendEmail, nowMs, days);
  return decision.kind === 'keep' ? { ...invitation, mail: true } : invitation;
}

function countChange(project: string, before: Resource, after: Resource): Action[] {
  if (before.active !== true || before.admin === after.admin) return [];
  return countAdministrator(project, after.admin === true ? 1 : before.admin === true ? -1 : 0);
}
