/**
 * Whether rules allow nothing that others do not, by rule: what only a search engine could tell is taken for more.
 * Pure. Used by the service and the administration app alike.
 */

import { isAdministrative } from '../../base/resource.ts';
import type { Interaction, Rule } from './rule.ts';

/**
 * The first of the rules that no single one of `held` contains; undefined when nothing of them is more. Of a type of which
 * any hides elements, a rule asks nothing more of a resource than the one that contains it: what it matches would tell of
 * them.
 */
export function exceeding(held: readonly Rule[], rules: readonly Rule[]): Rule | undefined {
  return rules.find((rule) => {
    const isBlind = held.some((other) => other.hiddenFields.length > 0 && isOfType(other, rule.resourceType));
    return !held.some((other) => contains(other, rule) && (!isBlind || asksNoMore(other, rule)));
  });
}

/**
 * Whether one rule allows all that another one does: it speaks of the same type, with as many interactions, of the
 * same criteria or fewer conditions, and closes no element that the other leaves open.
 */
export function contains(wide: Rule, narrow: Rule): boolean {
  const interactions = effectiveInteractions(narrow);
  if (interactions.length === 0) return true;
  return (
    speaksOfAll(wide, narrow) &&
    interactions.every((one) => wide.interactions.has(one)) &&
    closesAll(narrow.hiddenFields, wide.hiddenFields) &&
    closesAll(closedFields(narrow), closedFields(wide)) &&
    (wide.writableFields === undefined ||
      narrow.writableFields?.every((name) => wide.writableFields?.includes(name)) === true)
  );
}

/** Only Bots are executed. */
function effectiveInteractions({ resourceType, interactions }: Rule): Interaction[] {
  return [...interactions].filter((one) => one !== 'execute' || resourceType === 'Bot');
}

/** What is hidden is not changed either. */
export function closedFields({ hiddenFields, readonlyFields }: Rule): string[] {
  return [...hiddenFields, ...readonlyFields];
}

/** Whether each of the paths, or an element that it is part of, is closed. */
export function closesAll(closed: readonly string[], paths: readonly string[]): boolean {
  return paths.every((path) => closed.some((one) => one === path || path.startsWith(`${one}.`)));
}

/** Whether a rule speaks of every resource that the other one speaks of. A `*` is no type of its own list. */
export function speaksOfAll(wide: Rule, narrow: Rule): boolean {
  const { resourceType: type } = narrow;
  return (
    isOfType(wide, type) &&
    (wide.compartment === undefined || wide.compartment === narrow.compartment) &&
    (wide.criteria === undefined || hasConditionsOf(narrow, wide))
  );
}

function isOfType({ resourceType }: Rule, type: string): boolean {
  return resourceType === type || (resourceType === '*' && isInEvery(type));
}

/** Whether a `*` is for this type: not for those that are administrators' own. */
export function isInEvery(type: string): boolean {
  return !isAdministrative(type) && type !== 'Subscription';
}

/** Criteria without a condition match nothing. */
function hasConditionsOf(narrow: Rule, wide: Rule): boolean {
  if (narrow.criteria === undefined) return false;
  const [some, all] = [conditionsOf(wide), conditionsOf(narrow)];
  return some.of === all.of && some.pairs.size > 0 && [...some.pairs].every((pair) => all.pairs.has(pair));
}

/** Names of what every resource shows of itself, whoever may see it. */
const ofEverybody = /^\["(?:_id|_lastUpdated)"/;

function asksNoMore(wide: Rule, narrow: Rule): boolean {
  const asked = conditionsOf(wide).pairs;
  return [...conditionsOf(narrow).pairs].every((pair) => asked.has(pair) || ofEverybody.test(pair));
}

interface Conditions {
  of: string | undefined;
  pairs: ReadonlySet<string>;
}

/** A rule is compared with many. */
const known = new WeakMap<Rule, Conditions>();

/** As a search reads them: each narrows by itself. */
function conditionsOf(rule: Rule): Conditions {
  const remembered = known.get(rule);
  if (remembered) return remembered;
  const [of, query = ''] = (rule.criteria ?? '').split(/\?(.*)/s);
  const pairs = new Set([...new URLSearchParams(query)].map((pair) => JSON.stringify(pair)));
  const conditions = { of, pairs };
  known.set(rule, conditions);
  return conditions;
}
