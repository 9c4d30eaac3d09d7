import { stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import type { Actor } from './actor.ts';
import { matchesRule } from './criteria.ts';
import { defaultRules } from './default-rules.ts';
import { type Interaction, policyRules, type Rule } from './policy.ts';

/** Identity, Bots' settings, policies and audit: administrators' own, whatever a policy says. */
const administrative = new Set([
  'AccessPolicy',
  'AuditEvent',
  'Bot',
  'ClientApplication',
  'Project',
  'ProjectMembership',
  'User',
]);
const reading = new Set<Interaction>(['read', 'vread', 'search', 'history']);

/** The rules under which the actor acts; undefined for an administrator whom nothing narrows. */
function accessRules(actor: Actor): Rule[] | undefined {
  if (actor.policies) return policyRules(actor, actor.policies);
  return actor.admin ? undefined : defaultRules(actor);
}

/** Whether any rule could allow this on the type: what a search or a create asks first. */
export function mayInteract(actor: Actor, interaction: Interaction, type: string): boolean {
  return candidates(actor, interaction, type) === 'all' || candidates(actor, interaction, type).length > 0;
}

/** The rules of which one must speak of a resource for it to be found; `all` when nothing narrows the actor. */
export function searchRules(actor: Actor, type: string): 'all' | Rule[] {
  return candidates(actor, 'search', type);
}

/** Whether the actor may do this with this very resource, as it stands. */
export async function allows(actor: Actor, interaction: Interaction, resource: Resource): Promise<boolean> {
  const rules = candidates(actor, interaction, resource.resourceType);
  if (rules === 'all') return true;
  for (const rule of rules) if (await matchesRule(rule, resource)) return true;
  return false;
}

/**
 * Whether the actor may turn one state of a resource into the next: some rule speaks of both, and
 * none of the changed elements is closed to it.
 */
export async function allowsUpdate(actor: Actor, before: Resource, after: Resource): Promise<boolean> {
  const rules = candidates(actor, 'update', before.resourceType);
  if (rules === 'all') return true;
  const changed = changedElements(before, after);
  for (const rule of rules) {
    const open = changed.every(
      (name) => !rule.readonlyFields.includes(name) && (rule.writableFields?.includes(name) ?? true),
    );
    if (open && (await matchesRule(rule, before)) && (await matchesRule(rule, after))) return true;
  }
  return false;
}

function changedElements(before: Resource, after: Resource): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  names.delete('meta');
  return [...names].filter((name) => stringifyJson(before[name]) !== stringifyJson(after[name]));
}

/** @throws {Refusal} forbidden */
export async function requireAccess(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<void> {
  if (!(await allows(actor, interaction, resource))) throw new Refusal('forbidden', 'Forbidden');
}

/** The rules that matter; `all` when nothing narrows the actor here. */
function candidates(actor: Actor, interaction: Interaction, type: string): 'all' | Rule[] {
  const rules = accessRules(actor);
  if (rules === undefined) return 'all';
  if (administrative.has(type) && !reading.has(interaction) && interaction !== 'execute' && !actor.admin)
    return [];
  return rules.filter(
    (rule) =>
      rule.interactions.has(interaction) &&
      (rule.resourceType === type || (rule.resourceType === '*' && !administrative.has(type))),
  );
}
