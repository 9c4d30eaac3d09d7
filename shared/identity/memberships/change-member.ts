import { looseObject, string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { parseReference, type Resource } from '../../base/resource.ts';
import { fields, flag, optionalField, parse, whole } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Found, readItem } from '../../carry/table/table.ts';
import { untilWritten } from '../../carry/table/transact.ts';
import {
  makesAdministrator,
  type ProjectMembership,
  type Rights,
  rightsOf,
} from '../../store/fhir/membership.ts';
import { isStanding } from '../../store/items/content.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, admit, requireAdministrator } from '../gate/actor.ts';
import { latestGrant } from '../gate/emergency.ts';
import { changeAdministrator, refuseLastAdministrator } from '../invitations/accept.ts';
import { mayName } from '../invitations/gather.ts';
import { changeMembership, endMembershipActions, stampOf } from '../invitations/membership-actions.ts';
import { rightsEntries, unfitRights } from '../invitations/parse-rights.ts';
import { type Person, personAction, personOf } from '../invitations/person.ts';
import { type Standing, withInvitation } from '../invitations/state.ts';
import { changeGrants, provided, requireWithin } from '../policies/bounds.ts';
import { requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import { endedByActions } from '../sign-in/emergency.ts';
import { type Member, memberAudit, memberKey, requireMember } from './member.ts';
import { policyKeys, requirePolicies } from './program.ts';

/** A client may send back what it read. */
function unchanged(name: string) {
  return optionalField(
    whole(looseObject({ reference: string() }), `The ${name} of a membership never changes`),
  );
}

export const changeMemberBody = fields({
  ...rightsEntries,
  active: optionalField(flag('active')),
  project: unchanged('project'),
  user: unchanged('user'),
  profile: unchanged('profile'),
});

/**
 * Changes what a membership allows: policy, role, activity, patients. What is left out stays; null,
 * or an empty list, takes a policy or the patients away. Project, user and profile never change.
 * @throws {Refusal} not-found, invalid; forbidden for more than the caller holds; insufficient-user-authentication
 *   where it makes an administrator, or frees one of their policy
 */
export async function changeMember(
  services: Services,
  caller: Caller<'administrator'>,
  input: { membershipId: string; body: unknown },
): Promise<Resource> {
  const key = memberKey(caller.project, input.membershipId);
  return untilWritten(async () => {
    const { actor, found, projectHead: project } = await admit(services, caller, [key]);
    const member = requireMember(found.get(key));
    const { rights, active } = changeOf(input.body, member);
    const named = await requireNamed(services, actor, rights, member.membership);
    const heads = { member: found.get(key), project };
    const emergencyTakenAtMs = latestGrant(heads.member)?.startedAtMs;
    const change = { rights, active, emergencyTakenAtMs };
    const { changed, actions } = decideChange(services, actor, member, change);
    const grants = changeGrants(member.membership, changed);
    const bounds = await requireWithin(services, { caller, actor }, grants, named);
    if (makesAdministrator(ifActive(changed), ifActive(member.membership)))
      requireRecentSignIn(actor, services.now(), 'people');
    const isEnding =
      !changed.active || changed.emergencyPolicy?.reference !== member.membership.emergencyPolicy?.reference;
    const ended = isEnding ? endedByActions(services, actor, member.membership, heads) : [];
    await services.table.transact(provided([...actions, ...ended], bounds));
    return withInvitation(changed, member.standing?.invitation, services.now());
  }, refuseLastAdministrator);
}

function ifActive(membership: ProjectMembership): ProjectMembership | undefined {
  return membership.active ? membership : undefined;
}

function decideChange(
  services: Services,
  actor: Actor,
  { membership, standing }: Member,
  change: { rights: Rights; active: boolean; emergencyTakenAtMs: number | undefined },
) {
  const changed = changeMembership({ membership }, change, stampOf(services, actor));
  return {
    changed: changed.membership,
    actions: [
      ...changed.actions,
      ...(standing ? changeAdministrator(actor, membership, changed.membership) : []),
      memberAudit(services, actor, membership, { subtype: 'change-member', action: 'U' }),
    ],
  };
}

function changeOf(body: unknown, { membership, standing }: Member): { rights: Rights; active: boolean } {
  const { active = membership.active, project, user, profile, ...sent } = parse(changeMemberBody, body);
  requireSame({ project, user, profile }, membership);
  const named = rightsOf(sent);
  const type = parseReference(membership.profile.reference)?.type;
  const issues = unfitRights(String(type), named);
  if (active && standing && standing.invitation.state !== 'accepted') {
    issues.push({ expression: 'active', text: 'The person has not accepted the invitation' });
  }
  if (issues.length > 0) throw new Refusal('invalid', 'The change is not valid', { issues });
  return { rights: { ...without(rightsOf(membership), nulls(body)), ...named }, active };
}

/** What a change takes away: with null, or a list of nothing. */
function nulls(body: unknown): string[] {
  return Object.entries(body ?? {}).flatMap(([name, value]) =>
    value === null || (Array.isArray(value) && value.length === 0) ? [name] : [],
  );
}

function without(rights: Rights, names: readonly string[]): Rights {
  return Object.fromEntries(Object.entries(rights).filter(([name]) => !names.includes(name)));
}

type Fixed = { [Name in 'project' | 'user' | 'profile']: { reference: string } | undefined };

function requireSame(sent: Fixed, membership: ProjectMembership): void {
  for (const name of ['project', 'user', 'profile'] as const) {
    const given = sent[name];
    if (given !== undefined && given.reference !== membership[name].reference) {
      throw invalidField(name, `The ${name} of a membership never changes`);
    }
  }
}

async function requireNamed(
  services: Services,
  actor: Actor,
  rights: Rights,
  before: ProjectMembership,
): Promise<Found | undefined> {
  const { project } = actor;
  const known = new Set((before.patient ?? []).map(({ reference }) => reference));
  const patients = (rights.patient ?? []).map(({ reference }) => ({
    reference,
    key: keys.resource(project, 'Patient', parseReference(reference)?.id ?? 'none'),
  }));
  const wanted = [...policyKeys(project, rights), ...patients.map(({ key }) => key)];
  if (wanted.length === 0) return undefined;
  const found = await services.table.read(wanted);
  requirePolicies(project, rights, found);
  for (const { key, reference } of patients) {
    const head = found.get(key);
    const mayBeNamed = known.has(reference) ? isStanding(head) : await mayName(services.table, actor, head);
    if (!mayBeNamed) throw invalidField('patient', `${reference} does not exist`);
  }
  return found;
}

/**
 * Takes a person out of the Project, by an administrator or by themself. The profile stays where it
 * is and is noted: a later invite of the same person as the same type binds it again.
 * @throws {Refusal} forbidden, not-found, invalid for the last administrator
 */
export async function removeMember(
  services: Services,
  caller: Caller,
  { membershipId }: { membershipId: string },
): Promise<void> {
  const key = memberKey(caller.project, membershipId);
  const { project } = caller;
  await untilWritten(async () => {
    const { actor, found, projectHead } = await admit(services, caller, [key]);
    // An app that was given scopes for resources must not take the person out.
    const leaves = membershipId === caller.membershipId && !isForResourcesOnly(actor.scope);
    if (!leaves) requireAdministrator(actor);
    const { membership, standing } = requireMember(found.get(key));
    if (!standing) {
      throw new Refusal('invalid', 'This membership ends when its Bot or ClientApplication is deleted');
    }
    const person = personOf(await readItem(services.table, keys.person(project, standing.login)));
    const stamp = stampOf(services, actor);
    const heads = { member: found.get(key), project: projectHead };
    await services.table.transact([
      ...endMembershipActions(standing, stamp),
      ...(person
        ? [personAction(project, withoutMembership(person, standing), { seen: person, nowMs: stamp.nowMs })]
        : []),
      ...changeAdministrator(actor, membership, undefined),
      memberAudit(services, actor, membership, { subtype: 'remove-member', action: 'D' }),
      ...endedByActions(services, actor, membership, heads),
    ]);
  }, refuseLastAdministrator);
}

function withoutMembership(
  { login, userId, scope, memberships, profiles }: Person,
  { membership, profileType }: Standing,
): Omit<Person, 'revision'> {
  const kept = Object.entries(memberships).filter(([, id]) => id !== membership.id);
  const profileId = membership.profile.reference.split('/')[1] ?? '';
  return {
    ...{ login, userId, scope, memberships: Object.fromEntries(kept) },
    profiles: { ...profiles, [profileType]: profileId },
  };
}
