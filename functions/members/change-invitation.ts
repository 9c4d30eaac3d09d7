import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import type { Subtype } from '../../shared/audit/subtypes.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { changeMembership, issueInvitation, outboxAction } from '../../shared/invitation/actions.ts';
import { type Invitation, type Standing, withInvitation } from '../../shared/invitation/state.ts';
import { requireFeature } from '../../shared/project-features.ts';
import { projectSettings } from '../../shared/project-settings.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { memberAudit, memberKey, requireMember } from './member.ts';

interface Which {
  membershipId: string;
}

/** A new link by mail that kills the one before. @throws {Refusal} not-found, conflict, forbidden in a Project without mails */
export function resendInvitation(
  services: Services,
  caller: Caller<'administrator'>,
  which: Which,
): Promise<Resource> {
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  return changeInvitation(services, caller, which, async (standing, actor) => {
    requireFeature(actor, 'email');
    const userKey = keys.user(standing.userId);
    const found = await services.table.read([projectKey, userKey]);
    const known = standing.login.startsWith('E:') ? standing.login.slice(2) : found.get(userKey)?.email;
    if (typeof known !== 'string') throw new Refusal('invalid', 'The person has no e-mail address');
    const { invitationDays: days } = projectSettings(found.get(projectKey));
    const next = issueInvitation(standing.invitation.generation, true, services.now(), days);
    const mail = outboxAction(caller.project, standing.membership.id, known, next);
    return { next, subtype: 'resend-invitation', actions: [mail] };
  });
}

/** The link is dead until the person is invited again. @throws {Refusal} not-found, conflict */
export function revokeInvitation(
  services: Services,
  caller: Caller<'administrator'>,
  which: Which,
): Promise<Resource> {
  return changeInvitation(services, caller, which, async ({ membership, invitation }) => {
    if (invitation.state === 'revoked') throw new Refusal('not-found', 'Not found');
    const unsent = keys.outbox(caller.project, membership.id);
    return {
      next: { ...invitation, state: 'revoked' },
      subtype: 'revoke-invitation',
      actions: [{ name: 'unsent mail', remove: unsent }],
    };
  });
}

async function changeInvitation(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: Which,
  decide: (
    standing: Standing,
    actor: Actor,
  ) => Promise<{ next: Invitation; subtype: Subtype; actions: Action[] }>,
): Promise<Resource> {
  const key = memberKey(caller.project, membershipId);
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, [key]);
    const { membership, standing } = requireMember(found.get(key));
    if (!standing) throw new Refusal('not-found', 'Not found');
    if (standing.invitation.state === 'accepted') {
      throw new Refusal('conflict', 'User is already a member of this project');
    }
    const { next, subtype, actions } = await decide(standing, actor);
    const changed = changeMembership(
      standing,
      { rights: membership, invitation: next },
      stampOf(services, actor),
    );
    await services.table.transact([
      ...changed.actions,
      ...actions,
      memberAudit(services, actor, membership, { subtype, action: 'U' }),
    ]);
    return withInvitation(changed.membership, next, services.now());
  });
}

function stampOf({ newId, now, traceId: trace }: Services, { project, profile }: Actor) {
  return { project, versionId: newId(), nowMs: now(), author: { reference: profile }, trace };
}
