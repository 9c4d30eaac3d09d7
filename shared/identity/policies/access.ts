import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { noteWhole } from '../../carry/disclosure.ts';
import type { Budget } from '../../carry/table/budget.ts';
import { drawingOn } from '../../carry/table/metered.ts';
import type { Table } from '../../carry/table/table.ts';
import { withoutEmpty, withoutFields } from '../../store/fhir/fields.ts';
import type { Actor } from '../gate/actor.ts';
import * as own from './own-access.ts';
import type { Interaction, Rule } from './parse-policy.ts';
import { looksAt, type Searched } from './rules.ts';

/**
 * Who may what. A run that acts for its caller too (`within`) may do what each of them may: the Bot by
 * its own rights, and everybody in whose name it was called.
 */

function everyone(actor: Actor): readonly Actor[] {
  return [actor, ...(actor.within ?? [])];
}

/** What all of them may. */
function byEach<Asked extends unknown[]>(may: (actor: Actor, ...asked: Asked) => boolean) {
  return (actor: Actor, ...asked: Asked): boolean => everyone(actor).every((one) => may(one, ...asked));
}

/** The same, one after the other. */
function inTurn<Asked extends unknown[]>(may: (actor: Actor, ...asked: Asked) => Promise<boolean>) {
  return async (actor: Actor, ...asked: Asked): Promise<boolean> => {
    for (const one of everyone(actor)) if (!(await may(one, ...asked))) return false;
    return true;
  };
}

/** The actor for looking at what they may not see, on a budget for that: how much it costs is not theirs to learn. */
export function judgeOf(actor: Actor, untold: Budget = actor.budget.untold()): Actor {
  const judge = own.judgeOf(actor, untold);
  return actor.within ? { ...judge, within: actor.within.map((one) => own.judgeOf(one, untold)) } : judge;
}

/** Whether any rule could allow this on the type: what a search or a create asks first. */
export const mayInteract = byEach(own.mayInteract);

/** Whether the actor sees every resource of a type by this interaction, and all that is in it. */
export const seesAll = byEach(own.seesAll);

/** The table for reading what the actor may not see all of: what is read draws on a budget that they are not told of. */
export function tableToJudge(
  table: Table,
  actor: Actor,
  interaction: Interaction,
  types: readonly string[],
): Table {
  const isWhole = types.every((type) => seesAll(actor, interaction, type));
  return isWhole ? table : drawingOn(table, (own) => own.untold());
}

/** Whether the actor may do this with this very resource, as it stands. */
export const allows = inTurn(own.allows);

/** Whether the actor may turn one state of a resource into the next, undefined for none. */
export const allowsChange = inTurn(own.allowsChange);

/** The rules of which one must speak of a resource for it to be found; `all` when nothing narrows the actor. */
export function searchRules(actor: Actor, type: string): 'all' | readonly Rule[] {
  return everyone(actor).reduce<'all' | readonly Rule[]>(
    (rules, one) => (rules === 'all' ? own.searchRules(one, type) : rules),
    'all',
  );
}

/** Whether a search by the parameter may look at what is hidden from the actor, of whatever resource of the type. */
export function mayLookAtHidden(actor: Actor, type: string, parameter: Searched): boolean {
  return everyone(actor).some((one) => {
    const rules = own.searchRules(one, type);
    return rules !== 'all' && rules.some(({ hiddenFields: hidden }) => looksAt(parameter, hidden));
  });
}

/**
 * The elements that the actor may not see of a resource.
 * @param also hidden from them of the resource as it stands now
 * @returns undefined when the actor may not see the resource
 */
export function hiddenFields(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
  also: readonly string[] = [],
): Promise<readonly string[] | undefined> {
  return hiddenFromAny(everyone(actor), (one) => own.hiddenFields(one, interaction, resource, also));
}

/** Reads all rules by which resources of a type are judged, and pays for it. @throws {Refusal} too-costly */
export async function readRules(actor: Actor, interaction: Interaction, type: string): Promise<void> {
  for (const one of everyone(actor)) await own.readRules(one, interaction, type);
}

/**
 * Those that policies hide, whatever the token's scopes; undefined when they do not show the resource. In whose name it is
 * asked is asked first: rules that they have written for somebody else cost nothing of what is hidden from them.
 * @param isEnough whether more of them would change nothing
 */
export function hiddenByPolicies(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
  isEnough: (hidden: readonly string[]) => boolean,
): Promise<readonly string[] | undefined> {
  const all = everyone(actor).toReversed();
  return hiddenFromAny(all, (one) => own.hiddenByPolicies(one, interaction, resource), isEnough);
}

async function hiddenFromAny(
  actors: readonly Actor[],
  hiddenFrom: (one: Actor) => Promise<readonly string[] | undefined>,
  isEnough: (hidden: readonly string[]) => boolean = () => false,
): Promise<readonly string[] | undefined> {
  const hidden: string[] = [];
  for (const one of actors) {
    const fields = await hiddenFrom(one);
    if (!fields) return undefined;
    hidden.push(...fields);
    if (isEnough(hidden)) break;
  }
  return hidden;
}

/**
 * What was sent, with all that is closed to any of them.
 * @param emptied what in it nobody has sent empty: it goes, as what is emptied here
 */
export async function keepClosed<T extends { resourceType: string }>(
  actor: Actor,
  sent: T,
  before: Resource | undefined,
  emptied = new WeakSet<object>(),
): Promise<T> {
  let kept = sent;
  for (const one of everyone(actor)) kept = await own.keepClosed(one, kept, before, emptied);
  return withoutEmpty(kept, (empty) => emptied.has(empty));
}

/**
 * What stays of a resource when the actor updates it, and they do not see: of one that they may not read, by their policies or
 * with this token, all that stays.
 */
export async function keptUnseen(actor: Actor, before: Resource): Promise<string[]> {
  const kept = new Set<string>();
  for (const one of everyone(actor)) {
    const [update, read] = [
      await own.hiddenFields(one, 'update', before),
      (await own.hiddenFields(one, 'read', before)) ?? (await own.keptFields(one, before)),
    ];
    for (const path of [...(update ?? []), ...read]) kept.add(path);
  }
  return [...kept];
}

/** @throws {Refusal} forbidden */
export async function requireAccess(
  actor: Actor,
  interaction: Interaction,
  resource: Resource,
): Promise<void> {
  if (!(await allows(actor, interaction, resource))) throw new Refusal('forbidden', 'Forbidden');
}

/** The reading interactions. */
export type Reading = Extract<Interaction, 'read' | 'vread' | 'search' | 'history'>;

interface Looking {
  /**
   * How the resource stands now, when `resource` is one of its versions: who may not see it as it stands
   * sees no version of it. Of a deleted resource its last state stands.
   */
  standing?: Resource;
  /**
   * What a search looks at: a resource that hides any of it is not seen, whatever it holds, for else
   * the search would tell.
   */
  searched?: readonly Searched[];
}

/**
 * A state of a resource as the actor may see it, without hidden elements; undefined when not at all.
 * Every answer passes here: read, version, history, search, `$everything`, `_include`, Bundles.
 */
export async function visible(
  actor: Actor,
  interaction: Reading,
  resource: Resource,
  { standing, searched = [] }: Looking = {},
): Promise<Resource | undefined> {
  const hiddenNow = standing ? await hiddenFields(actor, interaction, standing) : [];
  const hiddenThen = hiddenNow && (await hiddenFields(actor, interaction, resource, hiddenNow));
  if (!hiddenThen) return undefined;
  const hidden = [...new Set([...hiddenNow, ...hiddenThen])];
  if (searched.some((parameter) => looksAt(parameter, hidden))) return undefined;
  noteWhole(actor.disclosure, resource);
  return hidden.length > 0 ? withoutFields(resource, hidden) : resource;
}

/**
 * Refuses at once what could never have a hit.
 * @throws {Refusal} forbidden, when the actor may not search the type, or not by one of the parameters
 */
export function requireSearchableBy(actor: Actor, type: string, searched: readonly Searched[]): void {
  if (!mayInteract(actor, 'search', type)) throw new Refusal('forbidden', 'Forbidden');
  const never = everyone(actor).flatMap((one) => own.unsearchableFields(one, type));
  const closed = searched.find((parameter) => looksAt(parameter, never));
  if (!closed) return;
  const { issues } = invalidField(closed.code, `You may not search by ${closed.code}`);
  throw new Refusal('forbidden', 'Forbidden', { issues });
}
