import { fieldsOf } from '../../../../shared/base/values.ts';

/** An entry of a policy as it was written: what the builder does not know stays as it is. */
export interface WrittenEntry {
  resourceType: string;
  [element: string]: unknown;
}

/** One `name=value` of criteria, as it stands there. */
export interface Condition {
  name: string;
  value: string;
}

/** The entries of a policy as JSON; undefined while the text is no list of entries. */
export function entriesIn(text: string): WrittenEntry[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every(isEntry) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is WrittenEntry {
  return typeof fieldsOf(value).resourceType === 'string';
}

const reading = ['read', 'vread', 'search', 'history'] as const;
const ofRecords = [...reading, 'create', 'update', 'delete'] as const;
const every = [...ofRecords, 'execute'] as const;
export type EntryInteraction = (typeof every)[number];

/** Those that come to anything on a type. */
export function interactionsFor(type: string): readonly EntryInteraction[] {
  return type === 'Bot' ? every : ofRecords;
}

/** What an entry allows; undefined when it says so in a way that is not understood. */
export function interactionsOf({ interaction, readonly }: WrittenEntry): EntryInteraction[] | undefined {
  if (interaction !== undefined && !isTexts(interaction)) return undefined;
  if (readonly !== undefined && typeof readonly !== 'boolean') return undefined;
  const named = every.filter((one) => interaction === undefined || interaction.includes(one));
  return readonly ? named.filter((one) => reading.some((other) => other === one)) : named;
}

/** All that its type has are said by saying nothing; `execute` is not added to what is no Bot. */
export function withInteractions(entry: WrittenEntry, chosen: readonly EntryInteraction[]): WrittenEntry {
  const { interaction: named, readonly: _, ...others } = entry;
  const offered = interactionsFor(entry.resourceType);
  if (offered.every((one) => chosen.includes(one))) return others;
  const kept = (one: EntryInteraction) => offered.includes(one) || (isTexts(named) && named.includes(one));
  return { ...others, interaction: every.filter((one) => chosen.includes(one) && kept(one)) };
}

/** What a resource must meet, in parts; undefined for criteria that cannot be taken apart. */
export function conditionsOf({ resourceType, criteria }: WrittenEntry): Condition[] | undefined {
  if (criteria === undefined) return [];
  if (typeof criteria !== 'string' || !criteria.startsWith(`${resourceType}?`)) return undefined;
  const query = criteria.slice(resourceType.length + 1);
  return query === '' ? undefined : query.split('&').map(conditionOf);
}

function conditionOf(text: string): Condition {
  const [name = '', value = ''] = text.split(/=(.*)/s);
  return { name, value };
}

export function withConditions(entry: WrittenEntry, conditions: readonly Condition[]): WrittenEntry {
  const { criteria: _, ...others } = entry;
  if (conditions.length === 0) return others;
  const query = conditions.map(({ name, value }) => `${name}=${value}`).join('&');
  return { ...entry, criteria: `${entry.resourceType}?${query}` };
}

/** The value of a condition as a person reads it, and back: only what would end it is encoded. */
export const shownValue = (value: string) =>
  value.replaceAll('+', ' ').replaceAll(/%2b/gi, '+').replaceAll('%26', '&');
export const writtenValue = (shown: string) => shown.replaceAll('+', '%2B').replaceAll('&', '%26');

/** Criteria name the type too. */
export function withType(entry: WrittenEntry, resourceType: string): WrittenEntry {
  const conditions = conditionsOf(entry);
  const next = { ...entry, resourceType };
  return conditions && conditions.length > 0 ? withConditions(next, conditions) : next;
}

export type ClosedFields = 'hiddenFields' | 'readonlyFields';

/** Undefined for what is no list of names. */
export function closedIn(entry: WrittenEntry, fields: ClosedFields): string[] | undefined {
  const value = entry[fields];
  if (value === undefined) return [];
  return isTexts(value) ? value : undefined;
}

export function withClosed(
  entry: WrittenEntry,
  fields: ClosedFields,
  paths: readonly string[],
): WrittenEntry {
  if (paths.length > 0) return { ...entry, [fields]: paths };
  const next = { ...entry };
  delete next[fields];
  return next;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
