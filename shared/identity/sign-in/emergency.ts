import { check, description, maxLength, minLength, pipe, string, trim } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { parseReference, type Reference, type Resource } from '../../base/resource.ts';
import { fields, parse } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Found, readItem, type Table } from '../../carry/table/table.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import { type ProjectMembership, rightsOf } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { auditAction, details, targetOf } from '../audit/audit-event.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, admit } from '../gate/actor.ts';
import {
  activeGrant,
  type EmergencyGrant,
  type EmergencyHeads,
  emergencyMinutesOf,
  latestGrant,
} from '../gate/emergency.ts';
import { listAdministrators } from '../invitations/accept.ts';
import { changeMembership, stampOf } from '../invitations/membership-actions.ts';
import { discover, IssuerFault } from '../issuers/issuer-web.ts';
import type { MailKind } from '../mail/letters.ts';
import { memberKey, requireMember } from '../memberships/member.ts';
import { policyWords } from '../policies/policy-words.ts';
import { hasSignedInRecently, requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import { type Login, loginOf } from './logins.ts';
import { isMadeFor } from './person-login.ts';
import { type AccountServices, proofEntries, proofKeys, prove, refuseProof } from './proof.ts';

/** A person takes it so often on a day (UTC): what is needed more often is no emergency. */
const mostADay = 5;

/**
 * The grant of a claim. It begins after whatever has ended before, whichever machine's clock that was written by.
 * @throws {Refusal} throttled when it was taken too often today
 */
function newGrant(
  { member, project }: EmergencyHeads,
  { reason, policy, minutes, nowMs }: { reason: string; policy: string; minutes: number; nowMs: number },
): EmergencyGrant {
  const ends = [member, project].map((head) => Number(head?.emergencyEndedAtMs ?? 0));
  const startedAtMs = Math.max(nowMs, ...ends.map((at) => at + 1));
  const last = latestGrant(member);
  const onDay = last && dayOf(last.startedAtMs) === dayOf(nowMs) ? last.onDay + 1 : 1;
  if (onDay > mostADay) {
    throw new Refusal('throttled', `Emergency access is taken at most ${mostADay} times a day`, {
      retryAfterSeconds: Math.ceil(((dayOf(nowMs) + 1) * dayMs - nowMs) / 1000),
    });
  }
  return { startedAtMs, untilMs: startedAtMs + minutes * 60_000, reason, policy, onDay };
}

const dayMs = 86_400_000;
const dayOf = (ms: number) => Math.floor(ms / dayMs);

type Place = Pick<Services, 'now' | 'newId' | 'traceId'>;

/** It begins, perhaps without a recent sign-in, which an issuer that did not answer could not be asked for; or it ends. */
type EmergencyChange = { begins: EmergencyGrant; isUnasked: boolean } | { ends: EmergencyGrant };

/** A membership's emergency access begins or ends: for one transaction, when it has the version that was seen. */
function emergencyActions(
  services: Place,
  actor: Actor,
  membership: ProjectMembership,
  change: EmergencyChange,
): Action[] {
  const changed = {
    rights: rightsOf(membership),
    ...('begins' in change
      ? { emergency: change.begins }
      : { endsEmergency: true, emergencyTakenAtMs: change.ends.startedAtMs }),
  };
  const { actions } = changeMembership({ membership }, changed, stampOf(services, actor));
  return [...actions, emergencyAudit(services, actor, membership, change)];
}

/** The entry of the audit log that tells of it. */
function emergencyAudit(
  services: Pick<Place, 'now' | 'newId'>,
  actor: Actor,
  membership: ProjectMembership,
  change: EmergencyChange,
): Action {
  const { startedAtMs, untilMs, reason, policy } = 'begins' in change ? change.begins : change.ends;
  const isUnasked = 'begins' in change && change.isUnasked;
  const detail = details({
    reason,
    began: new Date(startedAtMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    'sign-in': isUnasked ? 'not asked for: the issuer did not answer' : undefined,
  });
  return auditAction(services, actor, {
    subtype: 'begins' in change ? 'emergency-access' : 'end-emergency-access',
    ...({ action: 'E', isEmergency: true } as const),
    entities: [{ ...targetOf(membership), detail }, { reference: policy }],
  });
}

/** The entry for a change by which a membership's emergency access ends too; none when it has none. */
export function endedByActions(
  services: Place,
  actor: Actor,
  membership: ProjectMembership,
  heads: EmergencyHeads,
): Action[] {
  const ends = activeGrant(membership, heads, services.now());
  return ends ? [emergencyAudit(services, actor, membership, { ends })] : [];
}

/** So many administrators are told: their mails are in the transaction of the claim, which holds a hundred actions. */
const mostTold = 50;
const keptSeconds = 7 * 86_400;

/** The mails by which administrators, and the person, learn of it at once; for the transaction of the claim. */
async function emergencyMails(
  table: Table,
  {
    project,
    membership,
    grant,
    isUnasked,
  }: { project: string; membership: ProjectMembership; grant: EmergencyGrant; isUnasked: boolean },
): Promise<Action[]> {
  const { startedAtMs, untilMs } = grant;
  const takenBy = { membershipId: membership.id, name: membership.profile.display ?? 'A member' };
  const told = new Set([membership.id, ...(await listAdministrators(table, project, mostTold))]);
  return [...told].map((toldId) => ({
    name: 'mail',
    put: {
      ...keys.emergencyMail(project, { membershipId: membership.id, startedAtMs }, toldId),
      kind: 'emergency-access' satisfies MailKind,
      ...{ project, takenBy, toldId, untilMs, isUnasked, generation: startedAtMs },
      ttl: Math.ceil(startedAtMs / 1000) + keptSeconds,
    },
  }));
}

/** What a member may learn of the emergency access that is prepared for them. */
export interface EmergencyState {
  /** How long it would last, in minutes. */
  minutes: number;
  policy: Reference;
  /** What it opens, a sentence for each entry of the policy. */
  opens: string[];
  /** While it goes on; instants. */
  active?: { since: string; until: string; reason: string };
}

/** The policy that a membership names for emergencies; undefined when it names none, or one that is gone. */
export async function emergencyPolicyOf(
  table: Table,
  project: string,
  { emergencyPolicy }: ProjectMembership,
): Promise<Resource | undefined> {
  const id = parseReference(emergencyPolicy?.reference ?? '')?.id;
  if (id === undefined) return undefined;
  return inlineResource('AccessPolicy', await readItem(table, keys.resource(project, 'AccessPolicy', id)));
}

/** @param projectHead of the membership's Project */
export function emergencyState(
  policy: Resource,
  { grant, projectHead }: { grant: EmergencyGrant | undefined; projectHead: Item | undefined },
): EmergencyState {
  const { id, name } = policy;
  return {
    minutes: emergencyMinutesOf(projectHead),
    policy: { reference: `AccessPolicy/${id}`, ...(typeof name === 'string' ? { display: name } : {}) },
    opens: policyWords(policy, { isAdministrator: false }).map(({ text }) => text),
    ...(grant ? { active: activeOf(grant) } : {}),
  };
}

function activeOf({ startedAtMs, untilMs, reason }: EmergencyGrant) {
  const [since, until] = [startedAtMs, untilMs].map((ms) => new Date(ms).toISOString());
  return { since: String(since), until: String(until), reason };
}

const reasonText = 'reason must be 10 to 500 characters without control characters';

export const emergencyBody = fields({
  reason: pipe(
    string(reasonText),
    trim(),
    minLength(10, reasonText),
    maxLength(500, reasonText),
    check((text) => !/\p{C}/u.test(text), reasonText),
    description('Why it is needed; administrators read it in the audit log'),
  ),
  ...proofEntries,
});

/**
 * A person takes the emergency access that an administrator has prepared for them: until it ends, all their logins of
 * the Project may what its policy allows, beside what they may otherwise. Administrators are told in the same
 * transaction. Asked again with the same reason, as after a lost answer, it answers what goes on and writes nothing.
 * @param input.body `{reason, password?, token?}`: who signed in more than five minutes ago shows their password or a code
 *   of their second factor beside it
 * @throws {Refusal} invalid; forbidden for programs, for apps with scopes for resources, for a login without the second
 *   factor that the membership asks for, and where nothing is prepared; insufficient-user-authentication; conflict while
 *   it goes on for another reason; throttled beyond five a day
 */
export async function takeEmergency(
  services: AccountServices,
  caller: Caller,
  { body, source }: { body: unknown; source: string },
): Promise<EmergencyState> {
  const { reason, ...proof } = parse(emergencyBody, body);
  const { project, membershipId } = caller;
  const key = memberKey(project, membershipId);
  let shown: Shown | undefined;
  return untilWritten(async () => {
    const wanted = [key, ...proofKeys(caller.subject)];
    const { actor, found, projectHead } = await admit(services, caller, wanted);
    const { membership, emergency } = actor;
    const login = requirePersonally(caller, membership, loginOf(actor.login));
    const policy = await emergencyPolicyOf(services.table, project, membership);
    const minutes = emergencyMinutesOf(projectHead);
    if (!policy || minutes === 0) {
      throw new Refusal('forbidden', 'No emergency access is prepared for you: ask an administrator');
    }
    if (emergency) {
      if (emergency.grant.reason !== reason)
        throw new Refusal('conflict', 'You have emergency access already: end it before you take it again');
      return emergencyState(policy, { grant: emergency.grant, projectHead });
    }
    const heads = { member: found.get(key), project: projectHead };
    const asked = { reason, policy: `AccessPolicy/${policy.id}`, minutes, nowMs: services.now() };
    const grant = newGrant(heads, asked);
    shown ??= await showAgain(services, login, { ...proof, actor, found, source });
    const { isUnasked } = shown;
    await services.table.transact([
      ...shown.actions,
      ...emergencyActions(services, actor, membership, { begins: grant, isUnasked }),
      ...(await emergencyMails(services.table, { project, membership, grant, isUnasked })),
    ]);
    await shown.takeBack();
    if (isUnasked) services.log.error('emergency access without a sign-in', { project });
    return emergencyState(policy, { grant, projectHead });
  }, refuseProof);
}

/** What is written with the claim, and whether nobody could be asked for a sign-in. */
interface Shown extends Awaited<ReturnType<typeof prove>> {
  isUnasked: boolean;
}

const answersWithinMs = 3000;

/**
 * Who they are is shown by a recent sign-in, or in this very request: in an emergency nobody is sent elsewhere first.
 * Nor does anybody wait for an issuer that does not answer: then the session suffices, and administrators are told so.
 * @throws {Refusal} insufficient-user-authentication; invalid, throttled for a wrong password or code
 */
async function showAgain(
  services: AccountServices,
  login: Login,
  proof: Parameters<typeof prove>[2] & { found: Found },
): Promise<Shown> {
  const nothing = { actions: [], takeBack: async () => undefined };
  const { found, ...given } = proof;
  const isGiven = given.password !== undefined || given.token !== undefined;
  if (isGiven && login.issuer === undefined)
    return { ...(await prove(services, found, given)), isUnasked: false };
  const isRecent = hasSignedInRecently(login, services.now());
  const isUnasked = !isRecent && login.issuer !== undefined && !(await answers(services, login.issuer));
  if (!isUnasked) requireRecentSignIn({ login }, services.now());
  return { ...nothing, isUnasked };
}

async function answers({ issuers }: AccountServices, issuer: string): Promise<boolean> {
  try {
    // What is remembered of it does not say whether it answers now.
    await discover(issuers.web, issuer, answersWithinMs);
    return true;
  } catch (error) {
    if (error instanceof IssuerFault) return false;
    throw error;
  }
}

/** @throws {Refusal} forbidden for whom an emergency is none of: what no person has decided on at this moment */
function requirePersonally(
  { scope }: Caller,
  membership: ProjectMembership,
  login: Login | undefined,
): Login {
  if (login?.kind !== 'person' || isForResourcesOnly(scope))
    throw new Refusal('forbidden', 'Only a person who has signed in takes emergency access');
  if (!isMadeFor(login, membership))
    throw new Refusal('forbidden', 'Sign in again, with a second factor, before you take emergency access');
  return login;
}

/** A person ends their own emergency access before its time; nothing when there is none. */
export async function endOwnEmergency(services: Services, caller: Caller): Promise<void> {
  await untilWritten(async () => {
    const { actor } = await admit(services, caller, []);
    const { membership, emergency } = actor;
    if (!emergency) return;
    await services.table.transact(emergencyActions(services, actor, membership, { ends: emergency.grant }));
  });
}

/** An administrator ends a member's emergency access before its time; nothing when there is none. @throws {Refusal} not-found */
export async function endEmergency(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: { membershipId: string },
): Promise<void> {
  const key = memberKey(caller.project, membershipId);
  await untilWritten(async () => {
    const { actor, found, projectHead: project } = await admit(services, caller, [key]);
    const { membership } = requireMember(found.get(key));
    const heads = { member: found.get(key), project };
    const ends = activeGrant(membership, heads, services.now());
    if (ends) await services.table.transact(emergencyActions(services, actor, membership, { ends }));
  });
}
