import { parseReference, type Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { type Actor, namedPolicies } from '../gate/actor.ts';
import { activeGrant, type EmergencyHeads } from '../gate/emergency.ts';
import { matchingRules } from './own-access.ts';
import type { Interaction } from './parse-policy.ts';
import { administratorWords, ruleWords } from './rule-words.ts';

/** A member as somebody who looks on: an actor for reading alone, which no token stands for. */
export interface MemberEyes {
  /** The rights of the member, whoever looks on. */
  own: Actor;
  /** The same, and no more than the one who looks on may see. */
  together: Actor;
}

/**
 * The rights that a membership has, at this moment and with all scopes.
 * @param asker who looks on
 * @param heads of the membership and of its Project
 */
export async function eyesOf(
  services: Services,
  asker: Actor,
  membership: ProjectMembership,
  heads: EmergencyHeads,
): Promise<MemberEyes> {
  const grant = activeGrant(membership, heads, services.now());
  const named = namedPolicies(membership, grant, asker.project);
  const own: Actor = {
    loginId: '',
    clientId: '',
    scope: 'openid',
    subject: parseReference(membership.user?.reference ?? '')?.id ?? '',
    project: asker.project,
    membershipId: membership.id,
    profile: membership.profile.reference,
    membership,
    admin: membership.admin === true,
    ...named.standing(await services.table.read(named.keys)),
    onlooker: asker,
    contextOf: asker.contextOf,
    budget: asker.budget,
  };
  return { own, together: { ...own, within: [asker] } };
}

/** The rules of the member that let them do this with the resource, in words; none when nothing does. */
export async function reasonsFor(
  own: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<string[]> {
  const rules = await matchingRules(own, interaction, resource);
  if (rules === 'all') return [administratorWords.text];
  return [...new Set(rules.map((rule) => ruleWords(rule, { isAdministrator: own.admin }).text))];
}
