import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import type { Subtype } from '../audit/subtypes.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Admitted, admit } from '../gate/actor.ts';
import { changeAdministrator } from '../invitations/accept.ts';
import {
  changeMembership,
  issueInvitation,
  outboxAction,
  stampOf,
} from '../invitations/membership-actions.ts';
import { addressOf } from '../invitations/person.ts';
import { type Invitation, type Standing, withInvitation } from '../invitations/state.ts';
import { provided, requireWithin } from '../policies/bounds.ts';
import { projectSettings, requireFeature } from '../projects/settings.ts';
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
  return changeInvitation(services, caller, which, async (standing, { actor, projectHead }) => {
    requireFeature(actor, 'email');
    const known =
      addressOf(standing.login) ?? (await readItem(services.table, keys.user(standing.userId)))?.email;
    if (typeof known !== 'string') throw new Refusal('invalid', 'The person has no e-mail address');
    const { invitationDays: days } = projectSettings(projectHead);
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
  return changeInvitation(services, caller, which, async ({ membership, invitation }, { actor }) => {
    if (invitation.state === 'revoked') throw new Refusal('not-found', 'Not found');
    const unsent = keys.outbox(caller.project, membership.id);
    return {
      next: { ...invitation, state: 'revoked' },
      subtype: 'revoke-invitation',
      actions: [
        { name: 'unsent mail', remove: unsent },
        ...changeAdministrator(actor, membership, undefined),
      ],
    };
  });
}

async function changeInvitation(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: Which,
  decide: (
    standing: Standing,
    by: Pick<Admitted, 'actor' | 'projectHead'>,
  ) => Promise<{ next: Invitation; subtype: Subtype; actions: Action[] }>,
): Promise<Resource> {
  const key = memberKey(caller.project, membershipId);
  return untilWritten(async () => {
    const admitted = await admit(services, caller, [key]);
    const { actor, found } = admitted;
    const { membership, standing } = requireMember(found.get(key));
    if (!standing) throw new Refusal('not-found', 'Not found');
    if (standing.invitation.state === 'accepted') {
      throw new Refusal('conflict', 'User is already a member of this project');
    }
    const { next, subtype, actions } = await decide(standing, admitted);
    // A link that is revoked opens nothing.
    const grants = next.state === 'revoked' ? [] : [{ membership }];
    const bounds = await requireWithin(services, { caller, actor }, grants);
    const change = { rights: membership, invitation: next };
    const changed = changeMembership(standing, change, stampOf(services, actor));
    const audit = memberAudit(services, actor, membership, { subtype, action: 'U' });
    await services.table.transact(provided([...changed.actions, ...actions, audit], bounds));
    return withInvitation(changed.membership, next, services.now());
  });
}
