/** What one membership alone allows. Callers ask access.ts, which knows of runs in somebody's name. */

import { isDeepStrictEqual } from 'node:util';
import { commonFields, keepFields, withoutFields } from '../fhir/fields.ts';
import { stringifyJson } from '../fhir/json.ts';
import { parseReference, type Resource } from '../fhir/resource.ts';
import { type Actor, mayAdminister } from './actor.ts';
import { matchesRule } from './criteria.ts';
import { defaultRules } from './default-rules.ts';
import { policyRules } from './policy.ts';
import type { Interaction, Rule } from './rule.ts';
import { scopeRules } from './scope-rules.ts';

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

/** What narrows the actor: from each list one rule must match; undefined where nothing narrows. */
interface Rules {
  /** Of the policies, or of the kind of profile. */
  policy: readonly Rule[] | undefined;
  /** Of the scopes that the login was given. */
  scope: readonly Rule[] | undefined;
}

const known = new WeakMap<Actor, Rules>();

function rulesOf(actor: Actor): Rules {
  const rules = known.get(actor) ?? { policy: accessRules(actor), scope: scopeRules(actor) };
  known.set(actor, rules);
  return rules;
}

/** The rules under which the actor acts; undefined for an administrator whom nothing narrows. */
function accessRules(actor: Actor): Rule[] | undefined {
  if (actor.policies) return policyRules(actor, actor.policies);
  return actor.admin ? undefined : defaultRules(actor);
}

/** The rules that speak of this interaction with this type. A policy's `*` is no administrative type. */
function candidates(actor: Actor, interaction: Interaction, type: string): Rules {
  const { policy, scope } = rulesOf(actor);
  if (isAdministratorsOnly(actor, interaction, type)) return { policy: [], scope };
  const inPolicy = administrative.has(type) ? [type] : [type, '*'];
  const speaks = (types: readonly string[]) => (rule: Rule) =>
    rule.interactions.has(interaction) &&
    types.includes(rule.resourceType) &&
    !(type === 'Binary' && closesBytes(rule));
  return { policy: policy?.filter(speaks(inPolicy)), scope: scope?.filter(speaks([type, '*'])) };
}

/** Its bytes are all there is to a Binary: a rule that closes them grants nothing on it. */
function closesBytes(rule: Rule): boolean {
  return closedFields(rule).some((path) => path === 'data' || path === 'contentType');
}

/** To write them is to administer: a client's keys or a policy would make more of what scopes allow. */
function isAdministratorsOnly(actor: Actor, interaction: Interaction, type: string): boolean {
  if (!administrative.has(type)) return false;
  if (reading.has(interaction)) return type === 'AuditEvent' && !actor.admin;
  return interaction !== 'execute' && !mayAdminister(actor);
}

/** R4 Binary.securityContext: who may not read such resources may not have what belongs to one. */
function isOfClosedContext(actor: Actor, resource: Resource): boolean {
  if (resource.resourceType !== 'Binary' || resource.securityContext === undefined) return false;
  const type = parseReference((resource.securityContext as { reference?: unknown }).reference)?.type;
  return !mayInteract(actor, 'read', type ?? 'Project');
}

/** Whether any rule could allow this on the type: what a search or a create asks first. */
export function mayInteract(actor: Actor, interaction: Interaction, type: string): boolean {
  const { policy, scope } = candidates(actor, interaction, type);
  return policy?.length !== 0 && scope?.length !== 0;
}

/** The rules of which one must speak of a resource for it to be found; `all` when nothing narrows the actor. */
export function searchRules(actor: Actor, type: string): 'all' | readonly Rule[] {
  const { policy, scope } = candidates(actor, 'search', type);
  return policy ?? scope ?? 'all';
}

/** Whether the actor may do this with this very resource, as it stands. */
export async function allows(actor: Actor, interaction: Interaction, resource: Resource): Promise<boolean> {
  if (isOfClosedContext(actor, resource)) return false;
  const { policy, scope } = candidates(actor, interaction, resource.resourceType);
  return (await matchesSome(scope, resource)) && (await matchesSome(policy, resource));
}

/**
 * The elements that the actor may not see of a resource: those that every rule that allows it hides.
 * The narrative, which repeats the elements, is hidden with any of them.
 * @returns undefined when the actor may not see the resource
 */
export async function hiddenFields(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<readonly string[] | undefined> {
  if (isOfClosedContext(actor, resource)) return undefined;
  const { policy, scope } = candidates(actor, interaction, resource.resourceType);
  return (await matchesSome(scope, resource)) ? hiddenByPolicy(policy, resource) : undefined;
}

async function hiddenByPolicy(
  policy: readonly Rule[] | undefined,
  resource: Resource,
): Promise<readonly string[] | undefined> {
  if (!policy) return [];
  const allowing = await matching(policy, resource);
  if (allowing.length === 0) return undefined;
  const hidden = commonFields(allowing.map((rule) => rule.hiddenFields));
  return hidden.length > 0 ? [...hidden, 'text'] : hidden;
}

/** The elements that a search must not speak of, whatever the resource: every rule hides them. */
export function unsearchableFields(actor: Actor, type: string): readonly string[] {
  const { policy } = candidates(actor, 'search', type);
  return commonFields((policy ?? []).map((rule) => rule.hiddenFields));
}

/**
 * What was sent, with all that is closed to the actor as it is stored; of a new resource it is left
 * out. What is closed by some rules only, and changed, is for `allowsChange` to refuse.
 */
export async function keepClosed<T extends { resourceType: string }>(
  actor: Actor,
  sent: T,
  before: Resource | undefined,
): Promise<T> {
  const { policy } = candidates(actor, before ? 'update' : 'create', sent.resourceType);
  if (!policy) return sent;
  if (!before) return withoutFields(sent, commonFields(policy.map(closedFields)));
  const closed = commonFields((await matching(policy, before)).map(closedFields));
  const reading = candidates(actor, 'read', sent.resourceType).policy;
  const hidden = (await hiddenByPolicy(reading, before)) ?? [];
  return keepFields(sent, before, [...closed, ...hidden]);
}

/**
 * Whether the actor may turn one state of a resource into the next, undefined for none: some rule
 * speaks of both, and none of what changes is closed by it.
 */
export async function allowsChange(
  actor: Actor,
  before: Resource | undefined,
  after: Resource,
): Promise<boolean> {
  const { policy, scope } = candidates(actor, before ? 'update' : 'create', after.resourceType);
  const states = before ? [before, after] : [after];
  if (states.some((state) => isOfClosedContext(actor, state))) return false;
  const open = policy?.filter((rule) => changesOpenFields(rule, before, after));
  return (await matchesSome(scope, ...states)) && (await matchesSome(open, ...states));
}

function changesOpenFields(rule: Rule, before: Resource | undefined, after: Resource): boolean {
  const closed = closedFields(rule);
  if (!before) return isDeepStrictEqual(withoutFields(after, closed), after);
  if (!changedElements(before, after).every((name) => rule.writableFields?.includes(name) ?? true))
    return false;
  return isDeepStrictEqual(keepFields(after, before, closed), after);
}

function closedFields(rule: Rule): string[] {
  return [...rule.hiddenFields, ...rule.readonlyFields];
}

function changedElements(before: Resource, after: Resource): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  names.delete('meta');
  return [...names].filter((name) => stringifyJson(before[name]) !== stringifyJson(after[name]));
}

/** Whether one rule matches all of the states; without rules nothing narrows. */
async function matchesSome(rules: readonly Rule[] | undefined, ...states: Resource[]): Promise<boolean> {
  if (!rules) return true;
  for (const rule of rules) {
    const matches = await Promise.all(states.map((state) => matchesRule(rule, state)));
    if (matches.every(Boolean)) return true;
  }
  return false;
}

async function matching(rules: readonly Rule[], resource: Resource): Promise<Rule[]> {
  const matches = await Promise.all(rules.map((rule) => matchesRule(rule, resource)));
  return rules.filter((_, i) => matches[i]);
}
