/**
 * Who may what. A run that acts for its caller too (`within`) may do what each of them may: the Bot by
 * its own rights, and everybody in whose name it was called.
 */

import type { Resource } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import type { Actor } from './actor.ts';
import * as own from './own-access.ts';
import type { Interaction, Rule } from './rule.ts';

function everyone(actor: Actor): readonly Actor[] {
  return [actor, ...(actor.within ?? [])];
}

/** Whether any rule could allow this on the type: what a search or a create asks first. */
export function mayInteract(actor: Actor, interaction: Interaction, type: string): boolean {
  return everyone(actor).every((one) => own.mayInteract(one, interaction, type));
}

/** The rules of which one must speak of a resource for it to be found; `all` when nothing narrows the actor. */
export function searchRules(actor: Actor, type: string): 'all' | readonly Rule[] {
  return everyone(actor).reduce<'all' | readonly Rule[]>(
    (rules, one) => (rules === 'all' ? own.searchRules(one, type) : rules),
    'all',
  );
}

/** Whether the actor finds every resource of a type, and all that is in it. */
export function searchesAll(actor: Actor, type: string): boolean {
  return everyone(actor).every((one) => own.searchesAll(one, type));
}

/** Whether the actor may do this with this very resource, as it stands. */
export async function allows(actor: Actor, interaction: Interaction, resource: Resource): Promise<boolean> {
  for (const one of everyone(actor)) if (!(await own.allows(one, interaction, resource))) return false;
  return true;
}

/**
 * The elements that the actor may not see of a resource.
 * @returns undefined when the actor may not see the resource
 */
export async function hiddenFields(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<readonly string[] | undefined> {
  const hidden: string[] = [];
  for (const one of everyone(actor)) {
    const fields = await own.hiddenFields(one, interaction, resource);
    if (!fields) return undefined;
    hidden.push(...fields);
  }
  return hidden;
}

/** The elements that a search must not speak of, whatever the resource. */
export function unsearchableFields(actor: Actor, type: string): readonly string[] {
  return everyone(actor).flatMap((one) => own.unsearchableFields(one, type));
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
  let kept = sent;
  for (const one of everyone(actor)) kept = await own.keepClosed(one, kept, before);
  return kept;
}

/** Whether the actor may turn one state of a resource into the next, undefined for none. */
export async function allowsChange(
  actor: Actor,
  before: Resource | undefined,
  after: Resource,
): Promise<boolean> {
  for (const one of everyone(actor)) if (!(await own.allowsChange(one, before, after))) return false;
  return true;
}

/** @throws {Refusal} forbidden */
export async function requireAccess(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<void> {
  if (!(await allows(actor, interaction, resource))) throw new Refusal('forbidden', 'Forbidden');
}
