import { isDeepStrictEqual } from 'node:util';
import { type Rights, rightsOf } from '../../shared/fhir/membership.ts';
import type { Invite } from '../../shared/invitation/parse-invite.ts';
import { type Standing, stateOf } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';

/** What an invite does, given how the person stands in the Project. */
export type Decision =
  /** A new membership; `replaces` is an invitation of another type that it ends. */
  | { kind: 'create'; replaces: readonly Standing[] }
  /** The same link stands; `mail` when no mail was asked for before and one is now. */
  | { kind: 'keep'; standing: Standing; mail: boolean }
  /** A new link that kills the old one, with these rights. */
  | { kind: 'renew'; standing: Standing; rights: Rights }
  /** An active member's rights change. */
  | { kind: 'update'; standing: Standing; rights: Rights };

/** Invites repeated within this time keep their link and send no second mail. */
const keepLinkMs = 60_000;

/** The re-invite table of docs/identity.md. @throws {Refusal} conflict */
export function decide(invite: Invite, standings: readonly Standing[], nowMs: number): Decision {
  const same = standings.find((standing) => standing.profileType === invite.profileType);
  return same ? decideSame(invite, same, nowMs) : decideOther(invite, standings, nowMs);
}

function decideSame(invite: Invite, standing: Standing, nowMs: number): Decision {
  const rights = { ...(invite.upsert ? rightsOf(standing.membership) : {}), ...invite.rights };
  const otherProfile = invite.profile && invite.profile.reference !== standing.membership.profile.reference;
  switch (stateOf(standing.invitation, nowMs)) {
    case 'accepted':
      if (!invite.upsert) throw alreadyMember();
      if (otherProfile) throw alreadyMember(' with a different profile');
      return { kind: 'update', standing, rights };
    case 'pending':
      if (otherProfile || !(invite.upsert || sameRights(rights, standing.membership))) throw alreadyInvited();
      if (!sameRights(rights, standing.membership)) return { kind: 'renew', standing, rights };
      if (nowMs - standing.invitation.invitedAtMs >= keepLinkMs) return { kind: 'renew', standing, rights };
      return { kind: 'keep', standing, mail: invite.sendEmail && !standing.invitation.mail };
    case 'expired':
    case 'revoked':
      if (otherProfile) return { kind: 'create', replaces: [standing] };
      return { kind: 'renew', standing, rights };
  }
}

function decideOther(invite: Invite, standings: readonly Standing[], nowMs: number): Decision {
  if (invite.forceNewMembership) return { kind: 'create', replaces: [] };
  const states = standings.map((standing) => stateOf(standing.invitation, nowMs));
  if (states.includes('accepted')) throw alreadyMember(invite.upsert ? ' with a different profile' : '');
  if (states.includes('pending') && !invite.upsert) throw alreadyInvited();
  return { kind: 'create', replaces: standings };
}

/** A right that was left out counts as its default. */
function sameRights(a: Rights, b: Rights): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b));
}

function comparable({
  admin,
  accessPolicy,
  access,
  emergencyPolicy,
  patient,
  authentication,
  mfaRequired,
}: Rights) {
  return {
    admin: admin ?? false,
    accessPolicy: accessPolicy?.reference,
    access: (access ?? []).map((one) => ({ policy: one.policy.reference, parameter: one.parameter ?? [] })),
    emergencyPolicy: emergencyPolicy?.reference,
    patient: (patient ?? []).map((one) => one.reference),
    authentication: authentication ?? 'password',
    mfaRequired: mfaRequired ?? false,
  };
}

function alreadyMember(how = ''): Refusal {
  return new Refusal('conflict', `User is already a member of this project${how}`);
}

function alreadyInvited(): Refusal {
  return new Refusal('conflict', 'User is already invited to this project with another type, policy or role');
}
