import { fieldsOf } from '../../base/values.ts';
import { closedFields, closesAll, contains, speaksOfAll } from './contains.ts';
import { type Interaction, type PolicyEntry, parsePolicy, reading, variable } from './parse-policy.ts';
import { joinWords, ruleWords, type Statement, type Whom } from './rule-words.ts';

/** A statement, and which entry of the policy says so, counted from 0. */
export interface EntryStatement extends Statement {
  entry: number;
}

/**
 * A policy in plain words: a sentence for each entry, in their order. What no sentence grants is refused.
 * Pure: used by the service and the administration app alike.
 */
export function policyWords(policy: object, whom: Whom): EntryStatement[] {
  const { resource = [], ...others } = fieldsOf(policy);
  if (!Array.isArray(resource)) return [];
  return resource.map((one, entry) => {
    let fault: string | undefined;
    const [rule] = parsePolicy({ ...others, resource: [one] }, (_expression, text) => {
      fault ??= text;
    });
    const resourceType = String(one?.resourceType ?? '');
    const statement: Statement = rule
      ? ruleWords(rule, whom)
      : { resourceType, interactions: [], text: `Grants nothing: ${fault ?? 'it cannot be understood'}.` };
    return { ...statement, entry };
  });
}

/**
 * Entries that another of the same policy makes void: what any entry allows is allowed, and an element is
 * closed only where all entries close it. Pure.
 * @param entries in the order of the policy; undefined for one that cannot be understood
 */
function overlapWarnings(entries: readonly (PolicyEntry | undefined)[]): string[] {
  return entries.flatMap((entry, i) => {
    if (!entry) return [];
    const wider = entries.findIndex((other, j) => other && j !== i && isVoid(entry, i, other, j));
    if (wider >= 0) return [`Entry ${i + 1} adds nothing: entry ${wider + 1} grants all of it.`];
    return [
      ...inVain(entry, i, entries, 'hiddenFields', reading, 'hides', 'shows'),
      ...inVain(entry, i, entries, 'readonlyFields', ['update'], 'protects', 'lets members change'),
    ];
  });
}

/** Of two that are the same the later one is void. */
function isVoid(entry: PolicyEntry, i: number, other: PolicyEntry, j: number): boolean {
  return isWithin(entry, other) && !(j > i && isWithin(other, entry));
}

/** Whether `other` allows all that `entry` does, with the same elements closed. */
function isWithin(entry: PolicyEntry, other: PolicyEntry): boolean {
  return (
    speaksOfAll(other, entry) &&
    contains(other, entry) &&
    isSame(entry.hiddenFields, other.hiddenFields) &&
    isSame(entry.readonlyFields, other.readonlyFields)
  );
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}

/** What an entry closes and another one, that speaks of the same, leaves open. */
function inVain(
  entry: PolicyEntry,
  i: number,
  entries: readonly (PolicyEntry | undefined)[],
  fields: 'hiddenFields' | 'readonlyFields',
  interactions: readonly Interaction[],
  verb: string,
  undone: string,
): string[] {
  const closed = entry[fields];
  for (const [j, other] of entries.entries()) {
    if (!other || j === i || !speaksOfAll(other, entry)) continue;
    if (!interactions.some((one) => entry.interactions.has(one) && other.interactions.has(one))) continue;
    const others = fields === 'hiddenFields' ? other.hiddenFields : closedFields(other);
    const open = closed.filter((path) => !closesAll(others, [path]));
    if (open.length > 0)
      return [
        `Entry ${i + 1} ${verb} ${joinWords(open)} in vain: entry ${j + 1} ${undone} ${open.length === 1 ? 'it' : 'them'}.`,
      ];
  }
  return [];
}

/** Tells whether a type has an element: `Patient`, `name.family`. */
export type HasElement = (type: string, path: string) => boolean;

/**
 * What of a policy is probably not meant: entries that grant nothing, variables that no member has by
 * themself, elements that do not exist, entries that another makes void. Each a sentence for its author. Pure.
 * @param policy an AccessPolicy, valid or not
 * @param hasElement left out while the definitions are not known: then elements are not looked at
 */
export function policyWarnings(policy: object, hasElement?: HasElement): string[] {
  const { resource = [] } = fieldsOf(policy);
  if (!Array.isArray(resource)) return [];
  if (resource.length === 0) return ['The policy has no entries: whoever has it may do nothing.'];
  const empty = policyWords(policy, { isAdministrator: false }).filter(
    ({ interactions }) => interactions.length === 0,
  );
  const entries = resource.map((one) => parsePolicy({ resource: [one] }, () => undefined)[0]);
  return [
    ...empty.map(({ entry, text }) => `Entry ${entry + 1} ${text.charAt(0).toLowerCase()}${text.slice(1)}`),
    ...entries.flatMap((entry, i) => (entry ? variableWarnings(entry, i + 1) : [])),
    ...entries.flatMap((entry, i) => (entry && hasElement ? elementWarnings(entry, i + 1, hasElement) : [])),
    ...overlapWarnings(entries),
  ];
}

const own = ['profile', 'patient'];

function variableWarnings({ criteria = '' }: PolicyEntry, number: number): string[] {
  const names = [
    ...new Set((criteria.match(variable) ?? []).map((name) => name.slice(1).replace(/\.id$/, ''))),
  ];
  return names
    .filter((name) => !own.includes(name))
    .map((name) => {
      const meant = own.find((one) => isAlmost(name.toLowerCase(), one));
      return meant
        ? `Entry ${number}: there is no variable %${name}. Do you mean %${meant}?`
        : `Entry ${number}: %${name} is a parameter. It grants nothing to a member whose access does not give it.`;
    });
}

function elementWarnings(entry: PolicyEntry, number: number, hasElement: HasElement): string[] {
  const { resourceType, hiddenFields, readonlyFields } = entry;
  if (resourceType === '*') return [];
  const unknown = [...hiddenFields, ...readonlyFields].filter((path) => !hasElement(resourceType, path));
  return unknown.length === 0
    ? []
    : [`Entry ${number}: ${resourceType} has no element ${joinWords(unknown, 'or')}.`];
}

/** At most two letters added, left out or replaced. */
function isAlmost(text: string, word: string): boolean {
  return distance(text, word) <= 2;
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(
        Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
