import { admit, requireAdministrator } from '../../shared/auth/actor.ts';
import { hashPassword } from '../../shared/auth/password.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { withInvitation } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { administratorsAction } from '../../shared/table/administrators.ts';
import { type Counted, countRate } from '../../shared/table/rate.ts';
import { ConditionFailed, OutcomeUnknown } from '../../shared/table/transact.ts';
import { carryOut } from './carry-out.ts';
import { decide } from './decide.ts';
import { type Gathered, gather } from './gather.ts';
import { inUse } from './names.ts';
import { type Invite, parseInvite } from './parse-invite.ts';

/** Another invite may write between our read and our transaction; then we look again. */
const attempts = 12;
const defaultInvitesPerHour = 1000;

/**
 * Invites a person into a Project: gather, decide, write once. The mail goes out after the commit.
 * @param input.body the request's JSON, as docs/identity.md describes it
 * @returns the ProjectMembership with the state of its invitation
 * @throws {Refusal} forbidden, invalid (an issue per field), conflict, throttled
 */
export async function inviteUser(
  services: Services,
  caller: Caller,
  input: { projectId: string; body: unknown },
): Promise<Resource> {
  const parsed = parseInvite(input.body);
  if ('issues' in parsed) {
    const { actor } = await admit(services, caller, []);
    requireAdministrator(actor, input.projectId);
    throw new Refusal('invalid', 'The invite is not valid', { issues: parsed.issues });
  }
  const { invite } = parsed;
  const counting = countEarly(services, caller);

  let _counted: Counted | undefined;
  let passwordHash: string | undefined;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const gathered = await gather(services, caller, input.projectId, invite);
    _counted ??= await requireRate(services, caller, gathered, counting);
    requireSamePerson(invite, gathered);
    const decision = decide(invite, gathered.standings, services.now());
    if (decision.kind === 'create') {
      requireFreeProfile(invite, gathered);
      if (invite.password !== undefined) passwordHash ??= await hashPassword(invite.password);
    }
    const { membership, invitation, actions } = carryOut(services, invite, gathered, decision, passwordHash);
    try {
      if (actions.length > 0) await services.table.transact(actions);
      return withInvitation(membership, invitation, services.now());
    } catch (error) {
      refuse(error);
    }
  }
  throw new Refusal('unavailable', 'Too many invites of this person at once', { retryAfterSeconds: 1 });
}

/** The counter runs beside the read for a caller whom this process has seen to be an administrator. */
function countEarly(services: Services, caller: Caller): Promise<Counted> | undefined {
  if (!services.memory.inviters.get(caller.membershipId)) return undefined;
  const counting = countRate(services, caller.project, 'invite');
  counting.catch(() => undefined); // awaited in requireRate, unless the caller is refused before
  return counting;
}

async function requireRate(
  services: Services,
  caller: Caller,
  { invitesPerHour = defaultInvitesPerHour }: Gathered,
  counting: Promise<Counted> | undefined,
): Promise<Counted> {
  services.memory.inviters.set(caller.membershipId, true);
  const counted = await (counting ?? countRate(services, caller.project, 'invite'));
  const retryAfterSeconds = await counted.over(invitesPerHour);
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

/** Returns when the conditions that failed mean that somebody else wrote: then we look again. */
function refuse(error: unknown): void {
  if (error instanceof OutcomeUnknown) {
    // The same invite again finds what was written, if anything was.
    throw new Refusal('unavailable', 'Try again shortly', { reason: error.cause, retryAfterSeconds: 1 });
  }
  if (!(error instanceof ConditionFailed)) throw error;
  if (error.failed.has(administratorsAction)) {
    throw new Refusal('invalid', 'The last administrator of a project cannot be removed or demoted');
  }
}
