import { isAdministrative } from '../../fhir/administrative.ts';
import type { PolicyEntry } from '../parse-policy.ts';
import type { Interaction } from '../rule.ts';
import { joinWords } from './join-words.ts';

/**
 * Entries that another of the same policy makes void: what any entry allows is allowed, and an element is
 * closed only where all entries close it. Pure.
 * @param entries in the order of the policy; undefined for one that cannot be understood
 */
export function overlapWarnings(entries: readonly (PolicyEntry | undefined)[]): string[] {
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

const reading = ['read', 'vread', 'search', 'history'] as const;

/** Of two that are the same the later one is void. */
function isVoid(entry: PolicyEntry, i: number, other: PolicyEntry, j: number): boolean {
  return isWithin(entry, other) && !(j > i && isWithin(other, entry));
}

/** Whether `other` allows all that `entry` does, with the same elements closed. */
function isWithin(entry: PolicyEntry, other: PolicyEntry): boolean {
  const effective = [...entry.interactions].filter(
    (one) => one !== 'execute' || entry.resourceType === 'Bot',
  );
  return (
    covers(other, entry) &&
    effective.every((one) => other.interactions.has(one)) &&
    isSame(entry.hiddenFields, other.hiddenFields) &&
    isSame(entry.readonlyFields, other.readonlyFields)
  );
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}

/** Whether an entry speaks of every resource that the other one speaks of. */
function covers(wide: PolicyEntry, narrow: PolicyEntry): boolean {
  const { resourceType: type } = narrow;
  const isOfEvery = wide.resourceType === '*' && !isAdministrative(type) && type !== 'Subscription';
  return (
    (wide.resourceType === type || isOfEvery) &&
    (wide.criteria === undefined || (wide.criteria === narrow.criteria && wide.resourceType === type))
  );
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
    if (!other || j === i || !covers(other, entry)) continue;
    if (!interactions.some((one) => entry.interactions.has(one) && other.interactions.has(one))) continue;
    const open = closed.filter((path) => !closes(closedIn(other, fields), path));
    if (open.length > 0)
      return [
        `Entry ${i + 1} ${verb} ${joinWords(open)} in vain: entry ${j + 1} ${undone} ${open.length === 1 ? 'it' : 'them'}.`,
      ];
  }
  return [];
}

/** What is hidden is not changed either. */
function closedIn(entry: PolicyEntry, fields: 'hiddenFields' | 'readonlyFields'): readonly string[] {
  return fields === 'hiddenFields' ? entry.hiddenFields : [...entry.hiddenFields, ...entry.readonlyFields];
}

function closes(closed: readonly string[], path: string): boolean {
  return closed.some((one) => one === path || path.startsWith(`${one}.`));
}
