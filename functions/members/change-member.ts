import { looseObject, string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import { latestGrant } from '../../shared/access/emergency.ts';
import { type ProjectMembership, type Rights, rightsOf } from '../../shared/fhir/membership.ts';
import { parseReference, type Resource } from '../../shared/fhir/resource.ts';
import { changeMembership } from '../../shared/invitation/actions.ts';
import { countAdministrator, refuseLastAdministrator } from '../../shared/invitation/administrators.ts';
import { endedByActions } from '../../shared/invitation/emergency-access.ts';
import { rightsEntries, unfitRights } from '../../shared/invitation/parse-rights.ts';
import { withInvitation } from '../../shared/invitation/state.ts';
import { policyKeys, requirePolicies } from '../../shared/program/parse-program.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { flag, whole } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { isStanding } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { isCounted, type Member, memberAudit, memberKey, requireMember } from './member.ts';

/** A client may send back what it read. */
function unchanged(name: string) {
  return optional(whole(looseObject({ reference: string() }), `The ${name} of a membership never changes`));
}

export const changeMemberBody = fields({
  ...rightsEntries,
  active: optional(flag('active')),
  project: unchanged('project'),
  user: unchanged('user'),
  profile: unchanged('profile'),
});

/**
 * Changes what a membership allows: policy, role, activity, patients. What is left out stays; null
 * takes a policy or the patients away. Project, user and profile never change.
 * @throws {Refusal} not-found, invalid
 */
export async function changeMember(
  services: Services,
  caller: Caller<'administrator'>,
  input: { membershipId: string; body: unknown },
): Promise<Resource> {
  const key = memberKey(caller.project, input.membershipId);
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, [key, projectKey]);
    const member = requireMember(found.get(key));
    const { rights, active } = changeOf(input.body, member);
    await requireNamed(services, caller.project, rights);
    const heads = { member: found.get(key), project: found.get(projectKey) };
    const emergencyTakenAtMs = latestGrant(heads.member)?.startedAtMs;
    const change = { rights, active, emergencyTakenAtMs };
    const { changed, actions } = decideChange(services, actor, member, change);
    const isEnding =
      !changed.active || changed.emergencyPolicy?.reference !== member.membership.emergencyPolicy?.reference;
    await services.table.transact([
      ...actions,
      ...(isEnding ? endedByActions(services, actor, member.membership, heads) : []),
    ]);
    return withInvitation(changed, member.standing?.invitation, services.now());
  }, refuseLastAdministrator);
}

function decideChange(
  services: Services,
  actor: Actor,
  { membership, standing }: Member,
  change: { rights: Rights; active: boolean; emergencyTakenAtMs: number | undefined },
) {
  const stamp = {
    project: actor.project,
    versionId: services.newId(),
    nowMs: services.now(),
    author: { reference: actor.profile },
    trace: services.traceId,
  };
  const changed = changeMembership({ membership }, change, stamp);
  const before = isCounted(membership, standing);
  const after = isCounted(changed.membership, standing);
  return {
    changed: changed.membership,
    actions: [
      ...changed.actions,
      ...countAdministrator(actor.project, before === after ? 0 : after ? 1 : -1),
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

/** What a change takes away. */
function nulls(body: unknown): string[] {
  return Object.entries(body ?? {}).flatMap(([name, value]) => (value === null ? [name] : []));
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

async function requireNamed(services: Services, project: string, rights: Rights): Promise<void> {
  const patients = (rights.patient ?? []).map(({ reference }) => ({
    reference,
    key: keys.resource(project, 'Patient', parseReference(reference)?.id ?? 'none'),
  }));
  const wanted = [...policyKeys(project, rights), ...patients.map(({ key }) => key)];
  if (wanted.length === 0) return;
  const found = await services.table.read(wanted);
  requirePolicies(project, rights, found);
  for (const { key, reference } of patients) {
    if (!isStanding(found.get(key))) throw invalidField('patient', `${reference} does not exist`);
  }
}
