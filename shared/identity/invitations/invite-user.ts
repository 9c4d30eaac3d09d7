import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { type Counted, countRate } from '../../carry/table/counter.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, ConditionFailed, OutcomeUnknown, untilWritten } from '../../carry/table/transact.ts';
import { makesAdministrator, type ProjectMembership, rightsOf } from '../../store/fhir/membership.ts';
import { type Audited, auditAction, details, targetOf } from '../audit/audit-event.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit, isLately, requireRoot } from '../gate/actor.ts';
import { latestGrant } from '../gate/emergency.ts';
import { changeGrants, type Grant, newProfile, provided, requireWithin } from '../policies/bounds.ts';
import { requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { requireFeature, settingDefaults } from '../projects/settings.ts';
import { endedByActions } from '../sign-in/emergency.ts';
import { hashPassword, parseNewPassword } from '../sign-in/password.ts';
import { changeAdministrator, refuseLastAdministrator } from './accept.ts';
import { createMember, type Decision, decide } from './create-member.ts';
import { type Gathered, gather, unboundProfiles } from './gather.ts';
import { changeMembership, issueInvitation, outboxAction, stampOf } from './membership-actions.ts';
import { type Invite, parseInvite } from './parse-invite.ts';
import { inUse, personOf } from './person.ts';
import { type Invitation, withInvitation } from './state.ts';
import type { InviteOutcome } from './states.ts';

/** What the caller is answered, once the actions are written; none when nothing changes. */
interface Outcome {
  membership: Resource;
  invitation: Invitation;
  actions: Action[];
}

/** The decision as one transaction. */
function carryOut(
  services: Pick<Services, 'now' | 'newId' | 'traceId'>,
  invite: Invite,
  gathered: Gathered,
  decision: Decision,
  passwordHash: string | undefined,
): Outcome {
  const { actor } = gathered;
  const stamp = { ...stampOf(services, actor), newId: services.newId };
  if (decision.kind === 'create') {
    const created = createMember(invite, gathered, { ...decision, passwordHash }, stamp);
    const detail = details({ interaction: 'deleted' });
    const ended = decision.replaces.map(({ membership }) => ({ ...targetOf(membership), detail }));
    const replaced = decision.replaces.flatMap(({ membership }) =>
      changeAdministrator(actor, membership, undefined),
    );
    const audited = audit(created.membership, 'C', ended);
    return { ...created, actions: [...created.actions, ...replaced, audited] };
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
    stamp,
  );
  const mail = decision.kind !== 'update' && invite.sendEmail && invite.email;
  return {
    membership: changed.membership,
    invitation: next,
    actions: [
      ...changed.actions,
      ...(mail ? [outboxAction(stamp.project, membership.id, mail, next)] : []),
      ...(decision.kind === 'keep' ? [] : changeAdministrator(actor, membership, changed.membership)),
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
    return auditAction(services, actor, { subtype: 'invite', action, entities }, stamp.nowMs);
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

/**
 * Invites a person into a Project: gather, decide, write once. The mail goes out after the commit.
 * @param body the request's JSON, as docs/identity.md describes it
 * @returns the ProjectMembership with the state of its invitation and what the invite did
 * @throws {Refusal} invalid (an issue per field), forbidden when it asks for a mail in a Project without, conflict, throttled;
 *   insufficient-user-authentication where it makes an administrator
 */
export async function inviteUser(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<Resource> {
  const parsed = parseInvite(body);
  if ('issues' in parsed) {
    await admit(services, caller, []);
    throw new Refusal('invalid', 'The invite is not valid', { issues: parsed.issues });
  }
  const { invite } = parsed;
  const counting = countEarly(services, caller);

  let _counted: Counted | undefined;
  let passwordHash: string | undefined;
  return untilWritten(async () => {
    const gathered = await gather(services, caller, invite).catch((error) => {
      // Who is no administrator any more does not use up the invites of those who are.
      if (isShutOut(error)) services.memory.inviters.set(caller.membershipId, 0);
      throw error;
    });
    _counted ??= await requireRate(services, caller, gathered, counting);
    if (invite.password !== undefined) await parseNewPassword(invite.password, { email: invite.email });
    requireMayOpen(invite, gathered);
    requireSamePerson(invite, gathered);
    const decision = gathered.isStranger
      ? ({ kind: 'create', replaces: gathered.standings } as const)
      : decide(invite, gathered.standings, services.now());
    const { actor, found } = gathered;
    const given = memberBy(invite, gathered, decision);
    const standings = decision.kind === 'create' ? decision.replaces : [decision.standing];
    const asked = standings.map((standing) => standing.membership);
    // Who is only invited does not hold it yet.
    const grants =
      decision.kind === 'update'
        ? changeGrants(decision.standing.membership, given)
        : [{ membership: given, asked }];
    const bounds = await requireWithin(services, { caller, actor }, grants, found);
    if (decision.kind !== 'update' && invite.sendEmail && invite.email !== undefined) {
      requireFeature(gathered.actor, 'email');
    }
    if (decision.kind === 'create') {
      requireFreeProfile(invite, gathered);
      await requireNoTwin(services, caller.project, invite, gathered);
      if (invite.password !== undefined) passwordHash ??= await hashPassword(invite.password);
    }
    const { membership, invitation, actions } = carryOut(services, invite, gathered, decision, passwordHash);
    const before = decision.kind === 'update' ? decision.standing.membership : undefined;
    if (decision.kind !== 'keep' && makesAdministrator(given, before))
      requireRecentSignIn(actor, services.now(), 'people');
    if (actions.length > 0) await services.table.transact(provided(actions, bounds)).catch(refuseUnanswered);
    return withInvitation(membership, invitation, services.now(), outcomes[decision.kind]);
  }, refuseLastAdministrator);
}

/** What the person would be. */
function memberBy(invite: Invite, { notedProfile }: Gathered, decision: Decision): Grant['membership'] {
  if (decision.kind === 'create') {
    const { profileType: type, profile, newProfile: isNew, rights } = invite;
    const noted = notedProfile === undefined || isNew ? undefined : { reference: `${type}/${notedProfile}` };
    return { ...rights, profile: profile ?? noted ?? newProfile(type) };
  }
  const { membership } = decision.standing;
  return {
    ...(decision.kind === 'keep' ? rightsOf(membership) : decision.rights),
    profile: membership.profile,
  };
}

/** What the answer says of each decision. */
const outcomes: Record<Decision['kind'], InviteOutcome> = {
  create: 'created',
  keep: 'kept',
  renew: 'renewed',
  update: 'updated',
};

/** The counter runs beside the read for a caller whom this process has lately seen to be an administrator. */
function countEarly(services: Services, caller: Caller): Promise<Counted> | undefined {
  if (!isLately(services, services.memory.inviters.get(caller.membershipId))) return undefined;
  const counting = countRate(services, caller.project, 'invite');
  counting.catch(() => undefined); // awaited in requireRate, unless the caller is refused before
  return counting;
}

function isShutOut(error: unknown): boolean {
  return error instanceof Refusal && (error.kind === 'unauthorized' || error.kind === 'forbidden');
}

async function requireRate(
  services: Services,
  caller: Caller,
  { invitesPerHour = settingDefaults.invitesPerHour }: Gathered,
  counting: Promise<Counted> | undefined,
): Promise<Counted> {
  services.memory.inviters.set(caller.membershipId, services.now());
  const counted = await (counting ?? countRate(services, caller.project, 'invite'));
  const retryAfterSeconds = counted.over(invitesPerHour);
  if (retryAfterSeconds === undefined) return counted;
  throw new Refusal('throttled', `More than ${invitesPerHour} invites in this hour`, { retryAfterSeconds });
}

/**
 * One address is one person in a Project, whether its User lives above Projects or in this one. An external
 * id may have led here from another address: whose memberships these are must have this one, for the
 * link goes to it.
 */
function requireSamePerson(
  invite: Invite,
  { person, standings, knownUserId, knownEmail, isStranger }: Gathered,
): void {
  if (standings.length > 0 && person?.scope !== invite.scope) {
    throw new Refusal('conflict', 'User is already invited to this project with another scope');
  }
  if (invite.scope === 'server' && standings.some(({ userId }) => userId !== knownUserId)) {
    throw new Refusal('conflict', inUse);
  }
  const isOther = invite.email !== undefined && knownEmail !== undefined && invite.email !== knownEmail;
  if (invite.scope === 'project' && !isStranger && isOther) throw new Refusal('conflict', inUse);
}

/**
 * A password, or a link mailed to an address that the User of a known person has not, opens all that they hold here, and
 * come to hold: both are root's to give.
 * @throws {Refusal} forbidden
 */
function requireMayOpen(
  { password, scope, email }: Invite,
  { actor, person, isStranger, knownEmail }: Gathered,
): void {
  const isKnown = scope === 'project' && person?.scope === 'project' && !isStranger;
  if (password !== undefined || (isKnown && email !== undefined && email !== knownEmail)) requireRoot(actor);
}

/** One membership per profile: a bound one is not taken over. */
function requireFreeProfile({ profile }: Invite, { isProfileFree }: Gathered): void {
  if (profile && !isProfileFree) {
    throw new Refusal('conflict', 'Profile is already used by another member of this project');
  }
}

/**
 * An address in a record is editable data, no proof of whose record it is: nothing is bound by it, and no second
 * record is made beside it unasked.
 * @throws {ConditionFailed} when the person changed since they were read: the record may be one that is bound to them again
 */
async function requireNoTwin(
  { table }: Services,
  project: string,
  { email, profileType: type }: Invite,
  { actor, login, person, notedProfile, indexedProfiles }: Gathered,
): Promise<void> {
  if (email === undefined || notedProfile !== undefined || indexedProfiles.length === 0) return;
  const found = await unboundProfiles(table, actor, { project, type, email }, indexedProfiles);
  if (found.length === 0) return;
  const now = personOf(await readItem(table, keys.person(project, login)));
  if (now?.revision !== person?.revision) throw new ConditionFailed(['person']);
  throw new Refusal('conflict', 'There is a profile with this e-mail address already', {
    issues: found.map((reference) => ({
      text: `${reference} has this e-mail address and is nobody's profile: name it as profile, or send newProfile: true`,
      expression: 'profile',
      diagnostics: reference,
    })),
  });
}

/** The same invite again finds what was written, if anything was. */
function refuseUnanswered(error: unknown): never {
  if (!(error instanceof OutcomeUnknown)) throw error;
  throw new Refusal('unavailable', 'Try again shortly', { reason: error.cause, retryAfterSeconds: 1 });
}
