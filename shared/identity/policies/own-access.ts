/** What one membership alone allows. Callers ask access.ts, which knows of runs in somebody's name. */

import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../base/json.ts';
import { isAdministrative, type Resource } from '../../base/resource.ts';
import type { Budget } from '../../carry/table/budget.ts';
import { commonFields, keepFields, withoutFields } from '../../store/fhir/fields.ts';
import { type Actor, mayAdminister } from '../gate/actor.ts';
import { closedFields, closesBytes, isInEvery } from './contains.ts';
import { type Interaction, type Rule, reading } from './parse-policy.ts';
import {
  type Criterion,
  comparisonsOf,
  criterionOf,
  defaultRules,
  looksAt,
  matchesRule,
  policyRules,
  scopeRules,
} from './rules.ts';

/** What narrows the actor: from each list one rule must match; undefined where nothing narrows. */
interface Rules {
  /** Of the policies, or of the kind of profile. */
  policy: readonly Rule[] | undefined;
  /** Of the scopes that the login was given. */
  scope: readonly Rule[] | undefined;
}

/** An actor is of one request: its rules are worked out once, those of an interaction with a type too. */
const known = new WeakMap<
  Actor,
  { all: Rules; narrowed: Map<string, Rules>; unsearchable: Map<string, readonly string[]> }
>();

function knownOf(actor: Actor) {
  const rules = known.get(actor) ?? {
    all: { policy: accessRules(actor), scope: scopeRules(actor) },
    narrowed: new Map<string, Rules>(),
    unsearchable: new Map<string, readonly string[]>(),
  };
  known.set(actor, rules);
  return rules;
}

/** The same actor on another budget; what is worked out of their rules is shared. */
export function judgeOf(actor: Actor, budget: Budget): Actor {
  const judge = { ...actor, budget };
  known.set(judge, knownOf(actor));
  return judge;
}

/** The rules under which the actor acts; undefined for an administrator whom nothing narrows. */
function accessRules(actor: Actor): Rule[] | undefined {
  const { policies, emergency, admin } = actor;
  if (!policies && admin) return undefined;
  const own = policies ? policyRules(actor, policies) : defaultRules(actor);
  return emergency ? [...own, ...policyRules(actor, emergency.policies)] : own;
}

/** The rules that speak of this interaction with this type. */
function candidates(actor: Actor, interaction: Interaction, type: string): Rules {
  const { all, narrowed } = knownOf(actor);
  const name = `${interaction} ${type}`;
  const rules = narrowed.get(name) ?? narrow(actor, all, interaction, type);
  narrowed.set(name, rules);
  return rules;
}

/**
 * Neither a policy's nor a scope's `*` is for administrators' own records: to let an app read everything is not to
 * show it keys, policies and members. Which Bots may be run says the policy.
 */
function narrow(actor: Actor, { policy, scope }: Rules, interaction: Interaction, type: string): Rules {
  if (isAdministratorsOnly(actor, interaction, type)) return { policy: [], scope };
  const inPolicy = isInEvery(type) ? [type, '*'] : [type];
  const inScope = interaction === 'execute' ? [type, '*'] : inPolicy;
  const speaks = (types: readonly string[]) => (rule: Rule) =>
    rule.interactions.has(interaction) &&
    types.includes(rule.resourceType) &&
    !(type === 'Binary' && closesBytes(rule));
  return { policy: policy?.filter(speaks(inPolicy)), scope: scope?.filter(speaks(inScope)) };
}

/** To write them is to administer: a client's keys or a policy would make more of what scopes allow. */
function isAdministratorsOnly(actor: Actor, interaction: Interaction, type: string): boolean {
  if (!isAdministrative(type)) return false;
  if (reading.includes(interaction)) return type === 'AuditEvent' && !actor.admin;
  return interaction !== 'execute' && !mayAdminister(actor);
}

/**
 * R4 Binary.securityContext: who may not read that very resource may not have the bytes, and who may not
 * update it may not write them. One that is not there leaves them to administrators.
 */
async function isClosedByContext(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<boolean> {
  if (resource.resourceType !== 'Binary' || resource.securityContext === undefined) return false;
  const needed = reading.includes(interaction) ? 'read' : 'update';
  const context = await actor.contextOf(resource);
  return context ? !(await allows(actor, needed, context)) : !mayInteract(actor, needed, 'Project');
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

/** Whether the actor sees every resource of a type by this interaction, and all that is in it. */
export function seesAll(actor: Actor, interaction: Interaction, type: string): boolean {
  // The context of a Binary may close it.
  if (type === 'Binary') return false;
  const { policy, scope } = candidates(actor, interaction, type);
  return (policy?.some(opensAll) ?? true) && (scope?.some(opensAll) ?? true);
}

function opensAll({ compartment, criteria, hiddenFields }: Rule): boolean {
  return compartment === undefined && criteria === undefined && hiddenFields.length === 0;
}

/** Whether the actor may do this with this very resource, as it stands. */
export async function allows(actor: Actor, interaction: Interaction, resource: Resource): Promise<boolean> {
  const { policy } = candidates(actor, interaction, resource.resourceType);
  return (
    (await matchesSome(actor, policy, [resource])) &&
    (await rulesFor(actor, interaction, resource)) !== undefined
  );
}

/**
 * The elements that the actor may not see of a resource: those that every rule that allows it hides.
 * The narrative, which repeats the elements, is hidden with any of them.
 * @param also hidden from them of the resource as it stands now
 * @returns undefined when the actor may not see the resource
 */
export async function hiddenFields(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
  also: readonly string[] = [],
): Promise<readonly string[] | undefined> {
  const hidden = await hiddenByPolicies(actor, interaction, resource);
  if (!hidden) return undefined;
  const { scope } = candidates(actor, interaction, resource.resourceType);
  return (await isInScope(actor, scope, [resource], interaction, also)) ? hidden : undefined;
}

/**
 * Reads the rules by which resources of a type are judged: before any is come upon, for where there are many it takes long,
 * and would tell that there is one.
 */
export async function readRules(actor: Actor, interaction: Interaction, type: string): Promise<void> {
  const { policy = [], scope = [] } = candidates(actor, interaction, type);
  const rules = [...policy, ...scope];
  const length = rules.reduce((sum, { criteria = '' }) => sum + criteria.length, 0);
  actor.budget.require('comparisons', length * comparisonsOfCharacter);
  for (const rule of rules) await criterionOf(rule, type, actor.budget);
}

/** The same by the policies alone: what they hide costs nothing of what the actor makes their scopes cost. */
export async function hiddenByPolicies(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<readonly string[] | undefined> {
  const { policy } = candidates(actor, interaction, resource.resourceType);
  const hidden = await hiddenByPolicy(actor, policy, resource);
  return hidden && !(await isClosedByContext(actor, interaction, resource)) ? hidden : undefined;
}

/** The rules of the interaction with the type; undefined where the context or the scopes close the resource. */
async function rulesFor(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<Rules | undefined> {
  if (await isClosedByContext(actor, interaction, resource)) return undefined;
  const rules = candidates(actor, interaction, resource.resourceType);
  return (await isInScope(actor, rules.scope, [resource], interaction)) ? rules : undefined;
}

async function hiddenByPolicy(
  actor: Actor,
  policy: readonly Rule[] | undefined,
  resource: Resource,
): Promise<readonly string[] | undefined> {
  if (!policy) return [];
  const allowing = await matching(actor, policy, resource);
  if (allowing.length === 0) return undefined;
  const hidden = commonFields(allowing.map((rule) => rule.hiddenFields));
  return hidden.length > 0 ? [...hidden, 'text'] : hidden;
}

/** The rules by which the actor may do this with the resource; `all` when nothing narrows them. */
export async function matchingRules(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<'all' | readonly Rule[]> {
  const rules = await rulesFor(actor, interaction, resource);
  if (!rules) return [];
  return rules.policy ? matching(actor, rules.policy, resource) : 'all';
}

/** The elements that a search must not speak of, whatever the resource: every rule hides them. */
export function unsearchableFields(actor: Actor, type: string): readonly string[] {
  const { unsearchable } = knownOf(actor);
  const { policy = [] } = candidates(actor, 'search', type);
  const fields = unsearchable.get(type) ?? commonFields(policy.map((rule) => rule.hiddenFields));
  unsearchable.set(type, fields);
  return fields;
}

/**
 * What was sent, with all that is closed to the actor as it is stored; of a new resource it is left
 * out. What is closed by some rules only, and changed, is for `allowsChange` to refuse.
 * @param emptied is told of objects and lists that nothing is left of
 */
export async function keepClosed<T extends { resourceType: string }>(
  actor: Actor,
  sent: T,
  before: Resource | undefined,
  emptied: WeakSet<object>,
): Promise<T> {
  const { policy } = candidates(actor, before ? 'update' : 'create', sent.resourceType);
  if (!policy) return sent;
  if (!before) return withoutFields(sent, commonFields(policy.map(closedFields)), emptied);
  return keepFields(sent, before, await keptFields(actor, before), { emptied, spend: spendOn(actor) });
}

/**
 * The elements of a resource that stay as they are stored, whatever an update says: what every rule closes, and what the
 * actor may not see. Of one that they may not read it is what any rule closes: to let some rule judge whether it changes
 * would tell.
 */
export async function keptFields(actor: Actor, before: Resource): Promise<readonly string[]> {
  const { policy } = candidates(actor, 'update', before.resourceType);
  if (!policy) return [];
  const closed = (await matching(actor, policy, before)).map(closedFields);
  const read = candidates(actor, 'read', before.resourceType).policy;
  const hidden = await hiddenByPolicy(actor, read, before);
  return hidden ? [...commonFields(closed), ...hidden] : closed.flat();
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
  const interaction = before ? 'update' : 'create';
  const { policy, scope } = candidates(actor, interaction, after.resourceType);
  const states = before ? [before, after] : [after];
  for (const state of states) if (await isClosedByContext(actor, interaction, state)) return false;
  const open = policy?.filter((rule) => changesOpenFields(actor, rule, before, after));
  const isScoped = before
    ? await isInScope(actor, scope, [before, after], interaction)
    : await matchesSome(actor, scope, [after]);
  return isScoped && (await matchesSome(actor, open, states));
}

/** What it takes to compare an entry of a list with those that are stored, in comparisons. */
const comparisonsOfEntry = 25;

function spendOn({ budget }: Actor): (entries: number) => void {
  return (entries) => budget.spend('comparisons', entries * comparisonsOfEntry);
}

function changesOpenFields(actor: Actor, rule: Rule, before: Resource | undefined, after: Resource): boolean {
  const closed = closedFields(rule);
  if (!before) return isDeepStrictEqual(withoutFields(after, closed), after);
  if (!changedElements(before, after).every((name) => rule.writableFields?.includes(name) ?? true))
    return false;
  return isDeepStrictEqual(keepFields(after, before, closed, { spend: spendOn(actor) }), after);
}

function changedElements(before: Resource, after: Resource): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const elementOf = (state: Resource, name: string) => (name === 'meta' ? ownMeta(state.meta) : state[name]);
  return [...names].filter(
    (name) => stringifyJson(elementOf(before, name)) !== stringifyJson(elementOf(after, name)),
  );
}

/** Tags, security labels, profiles: what of `meta` the sender says. The rest changes with every version. */
function ownMeta({ versionId, lastUpdated, project, author, ...own }: Resource['meta']) {
  return own;
}

/**
 * Scopes are of the actor's own choice: a criterion that looks at what their policies hide from them of a state matches
 * nothing, for else it would tell. In the compartment of a Patient is what the actor sees to be there.
 */
async function isInScope(
  actor: Actor,
  scope: readonly Rule[] | undefined,
  states: readonly Resource[],
  interaction: Interaction,
  also: readonly string[] = [],
): Promise<boolean> {
  const [{ resourceType: type } = { resourceType: '' }] = states;
  const looks = ({ criteria, compartment }: Rule) => criteria !== undefined || compartment !== undefined;
  if (!scope?.some(looks)) return matchesSome(actor, scope, states);
  // However many and long they are: who chose them is not to learn from what they cost what they close.
  const one = judgeOf(actor, actor.budget.asOne());
  const { policy } = candidates(actor, reading.includes(interaction) ? interaction : 'read', type);
  const hidden = [...also];
  for (const state of states) {
    const fields = await hiddenByPolicy(actor, policy, state);
    if (!fields) return matchesSome(one, scope, states, 'all');
    hidden.push(...fields);
  }
  return matchesSome(one, scope, states, hidden);
}

/** Elements that rules must not look at, or they would tell of them; undefined for rules that are not of the actor's choice. */
type Hidden = readonly string[] | 'all' | undefined;

/** What it takes to read a character of criteria, at most: more than a request may cost is not begun. */
const comparisonsOfCharacter = 10;

/** What a rule takes beside its criterion, and each element that it hides, in comparisons. */
const comparisonsOfRule = 10;
const comparisonsOfField = 5;

/** Whether one rule matches all of the states; without rules nothing narrows. */
async function matchesSome(
  actor: Actor,
  rules: readonly Rule[] | undefined,
  states: readonly Resource[],
  hidden?: Hidden,
): Promise<boolean> {
  if (!rules) return true;
  for (const rule of rules) {
    if (await matchesEvery(actor, rule, states, hidden)) return true;
  }
  return false;
}

async function matching(actor: Actor, rules: readonly Rule[], resource: Resource): Promise<Rule[]> {
  const { onlooker } = actor;
  const hidden = onlooker ? ((await hiddenFields(onlooker, 'read', resource)) ?? 'all') : undefined;
  const found: Rule[] = [];
  for (const rule of rules) if (await matchesEvery(actor, rule, [resource], hidden)) found.push(rule);
  return found;
}

async function matchesEvery(
  actor: Actor,
  rule: Rule,
  states: readonly Resource[],
  hidden: Hidden,
): Promise<boolean> {
  for (const state of states) {
    const criterion = await criterionOf(rule, state.resourceType, actor.budget);
    if (criterion && tells(criterion, hidden)) return false;
    const ofFields = comparisonsOfField * rule.hiddenFields.length;
    actor.budget.spend(
      'comparisons',
      comparisonsOfRule + ofFields + (criterion ? comparisonsOf(criterion, state) : 0),
    );
    // What is in the compartment of a Patient takes its Binaries along.
    const isPart = rule.compartment !== undefined && state.resourceType === 'Binary';
    const whole = (isPart ? await actor.contextOf(state) : undefined) ?? state;
    const shown = rule.compartment === undefined ? whole : await shownOf(actor, whole, hidden, isPart);
    if (!shown || !(await matchesRule(rule, criterion, state, actor.budget, shown))) return false;
  }
  return true;
}

/** What decides whether a rule's compartment holds it. @param isContext of a Binary, of which `hidden` does not tell */
async function shownOf(
  actor: Actor,
  whole: Resource,
  hidden: Hidden,
  isContext: boolean,
): Promise<Resource | undefined> {
  if (hidden === undefined) return whole;
  const { policy } = candidates(actor.onlooker ?? actor, 'read', whole.resourceType);
  const closed = isContext ? await hiddenByPolicy(actor.onlooker ?? actor, policy, whole) : hidden;
  return closed === undefined || closed === 'all' ? undefined : withoutFields(whole, closed);
}

function tells({ filters }: Criterion, hidden: Hidden): boolean {
  if (hidden === 'all') return true;
  if (!hidden || hidden.length === 0) return false;
  return filters.some(({ parameters }) => parameters.some((one) => looksAt(one, hidden)));
}
