/**
 * Whether rules allow nothing that others do not, by rule: what only a search engine could tell is taken for more.
 * Pure. Used by the service and the administration app alike.
 */

import { isAdministrative } from '../../base/resource.ts';
import { readQuery } from '../../base/schema.ts';
import type { Interaction, Rule } from './parse-policy.ts';

/** The first of the rules that no single one of `held` contains; undefined when nothing of them is more. */
export function exceeding(held: readonly Rule[], rules: readonly Rule[]): Rule | undefined {
  return rules.find((rule) => !held.some((other) => contains(other, rule)));
}

/**
 * Whether one rule allows all that another one does: it speaks of the same type, with as many interactions, of the
 * same criteria or fewer conditions, and closes no element that the other leaves open. The other has more conditions
 * only where this one shows all of a resource: which resources they match would tell of what it does not show.
 */
export function contains(wide: Rule, narrow: Rule): boolean {
  const interactions = effectiveInteractions(narrow);
  if (interactions.length === 0) return true;
  return (
    speaksOfAll(wide, narrow) &&
    (showsAll(wide) || hasNoOtherConditions(wide, narrow)) &&
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

/** Its bytes are all there is to a Binary: a rule that closes them grants nothing on it. */
export function closesBytes(rule: Rule): boolean {
  return closedFields(rule).some((path) => path === 'data' || path === 'contentType');
}

/** Whether each of the paths, or an element that it is part of, is closed. */
export function closesAll(closed: readonly string[], paths: readonly string[]): boolean {
  return paths.every((path) => closed.some((one) => one === path || path.startsWith(`${one}.`)));
}

/** Whether a rule speaks of every resource that the other one speaks of. A `*` is no type of its own list. */
export function speaksOfAll(wide: Rule, narrow: Rule): boolean {
  const { resourceType: type } = narrow;
  return (
    (wide.resourceType === type || (wide.resourceType === '*' && isInEvery(type))) &&
    (wide.compartment === undefined || wide.compartment === narrow.compartment) &&
    (wide.criteria === undefined || hasConditionsOf(narrow, wide))
  );
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

function showsAll({ interactions, hiddenFields }: Rule): boolean {
  return interactions.has('read') && hiddenFields.length === 0;
}

/** Conditions, as JSON, on what tells of no content. */
const ofAnyContent = /^\["(?:_id|_lastUpdated)"/;

function hasNoOtherConditions(wide: Rule, narrow: Rule): boolean {
  const known = conditionsOf(wide).pairs;
  return [...conditionsOf(narrow).pairs].every((pair) => known.has(pair) || ofAnyContent.test(pair));
}

interface Conditions {
  of: string | undefined;
  pairs: ReadonlySet<string>;
}

/** A rule is compared with many. */
const readConditions = new WeakMap<Rule, Conditions>();

/** As a search reads them: each narrows by itself. */
function conditionsOf(rule: Rule): Conditions {
  const remembered = readConditions.get(rule);
  if (remembered) return remembered;
  const [of, query = ''] = (rule.criteria ?? '').split(/\?(.*)/s);
  const pairs = new Set([...readQuery(query)].map((pair) => JSON.stringify(pair)));
  const conditions = { of, pairs };
  readConditions.set(rule, conditions);
  return conditions;
}
