import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import { type ProjectMembership, type Rights, rightsOf } from '../../shared/fhir/membership.ts';
import { type ProfileType, parseReference, type Resource } from '../../shared/fhir/resource.ts';
import { changeMembership } from '../../shared/invitation/actions.ts';
import { countAdministrator, refuseLastAdministrator } from '../../shared/invitation/administrators.ts';
import { parseRights } from '../../shared/invitation/parse-rights.ts';
import { withInvitation } from '../../shared/invitation/state.ts';
import { policyKeys, requirePolicies } from '../../shared/program/parse-program.ts';
import { invalidField, Refusal, type RefusalIssue } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { isStanding } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { isCounted, type Member, memberAudit, memberKey, requireMember } from './member.ts';

type Fields = Record<string, unknown>;

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
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, [key]);
    const member = requireMember(found.get(key));
    const { rights, active } = parseChange(input.body, member);
    await requireNamed(services, caller.project, rights);
    const { changed, actions } = decideChange(services, actor, member, { rights, active });
    await services.table.transact(actions);
    return withInvitation(changed, member.standing?.invitation, services.now());
  }, refuseLastAdministrator);
}

function decideChange(
  services: Services,
  actor: Actor,
  { membership, standing }: Member,
  change: { rights: Rights; active: boolean },
) {
  const stamp = {
    project: actor.project,
    versionId: services.newId(),
    nowMs: services.now(),
    author: { reference: actor.profile },
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

function parseChange(body: unknown, { membership, standing }: Member): { rights: Rights; active: boolean } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal('invalid', 'The body must be a JSON object');
  }
  const fields = body as Fields;
  requireSame(fields, membership);
  const issues: RefusalIssue[] = [];
  const type = parseReference(membership.profile.reference)?.type as ProfileType;
  const named = parseRights(fields, {}, type, (expression, text) => issues.push({ expression, text }));
  const { active = membership.active } = fields;
  if (typeof active !== 'boolean')
    issues.push({ expression: 'active', text: 'active must be true or false' });
  if (active === true && standing && standing.invitation.state !== 'accepted') {
    issues.push({ expression: 'active', text: 'The person has not accepted the invitation' });
  }
  if (issues.length > 0) throw new Refusal('invalid', 'The change is not valid', { issues });
  const kept = Object.entries(rightsOf(membership)).filter(([name]) => fields[name] !== null);
  return { rights: { ...Object.fromEntries(kept), ...named }, active: active === true };
}

/** A client may send back what it read, but none of these differently. */
function requireSame(fields: Fields, membership: ProjectMembership): void {
  for (const name of ['project', 'user', 'profile'] as const) {
    const given = fields[name] as { reference?: unknown } | null | undefined;
    if (given != null && given.reference !== membership[name].reference) {
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
