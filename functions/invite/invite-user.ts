import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { isLately } from '../../shared/access/lately.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { refuseLastAdministrator } from '../../shared/invitation/administrators.ts';
import { inUse } from '../../shared/invitation/names.ts';
import { type Invite, parseInvite } from '../../shared/invitation/parse-invite.ts';
import { withInvitation } from '../../shared/invitation/state.ts';
import type { InviteOutcome } from '../../shared/invitation/states.ts';
import { parseNewPassword } from '../../shared/login/parse-password.ts';
import { hashPassword } from '../../shared/login/password.ts';
import { requireFeature } from '../../shared/project-features.ts';
import { settingDefaults } from '../../shared/project-settings.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { type Counted, countRate } from '../../shared/table/rate.ts';
import { OutcomeUnknown } from '../../shared/table/transact.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { carryOut } from './carry-out.ts';
import { type Decision, decide } from './decide.ts';
import { type Gathered, gather } from './gather.ts';
import { unboundProfiles } from './profiles-of-address.ts';

/**
 * Invites a person into a Project: gather, decide, write once. The mail goes out after the commit.
 * @param body the request's JSON, as docs/identity.md describes it
 * @returns the ProjectMembership with the state of its invitation and what the invite did
 * @throws {Refusal} invalid (an issue per field), forbidden when it asks for a mail in a Project without, conflict, throttled
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
    requireSamePerson(invite, gathered);
    const decision = decide(invite, gathered.standings, services.now());
    if (decision.kind !== 'update' && invite.sendEmail && invite.email !== undefined) {
      requireFeature(gathered.actor, 'email');
    }
    if (decision.kind === 'create') {
      requireFreeProfile(invite, gathered);
      await requireNoTwin(services, caller.project, invite, gathered);
      if (invite.password !== undefined) passwordHash ??= await hashPassword(invite.password);
    }
    const { membership, invitation, actions } = carryOut(services, invite, gathered, decision, passwordHash);
    if (actions.length > 0) await services.table.transact(actions).catch(refuseUnanswered);
    return withInvitation(membership, invitation, services.now(), outcomes[decision.kind]);
  }, refuseLastAdministrator);
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
function requireSamePerson(invite: Invite, { person, standings, knownUserId }: Gathered): void {
  if (standings.length > 0 && person?.scope !== invite.scope) {
    throw new Refusal('conflict', 'User is already invited to this project with another scope');
  }
  if (invite.scope === 'server' && standings.some(({ userId }) => userId !== knownUserId)) {
    throw new Refusal('conflict', inUse);
  }
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
 */
async function requireNoTwin(
  { table }: Services,
  project: string,
  { email, profileType: type }: Invite,
  { notedProfile, indexedProfiles }: Gathered,
): Promise<void> {
  if (email === undefined || notedProfile !== undefined || indexedProfiles.length === 0) return;
  const found = await unboundProfiles(table, { project, type, email }, indexedProfiles);
  if (found.length === 0) return;
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
