import { fieldsOf } from '../../fields-of.ts';
import { type PolicyEntry, parsePolicy } from '../parse-policy.ts';
import { variable } from '../variable.ts';
import { joinWords } from './join-words.ts';
import { overlapWarnings } from './overlap-warnings.ts';
import { policyWords } from './policy-words.ts';

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
