import { Recent } from '../../base/recent.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';

/** A Subscription that is not deleted, as far as it says which writes it may be about. */
export interface ListedSubscription {
  id: string;
  type: string;
  /** Records written before that are not for it. An instant. */
  since: string;
}

export function listedItem(project: string, { id, type, since }: ListedSubscription): Item {
  return { ...keys.subscription(project, id), type, since };
}

/**
 * Lists a Subscription that was saved.
 * @param goesOn it was on, for the same type: what was written before it was saved, and is looked at
 *   only now, is for it as well
 */
export function listAction(
  project: string,
  { id, type, since }: ListedSubscription,
  goesOn: boolean,
): Action {
  if (!goesOn) return { name: 'listed', put: listedItem(project, { id, type, since }) };
  return {
    name: 'listed',
    update: keys.subscription(project, id),
    set: 'SET #type = :type, since = if_not_exists(since, :since)',
    names: { '#type': 'type' },
    values: { ':type': type, ':since': since },
  };
}

/** All of a Project's. */
export async function listSubscriptions(table: Table, project: string): Promise<ListedSubscription[]> {
  const { items } = await table.query(queryOf(keys.subscription(project, '').pk));
  return items.map(({ sk, type, since }) => ({ id: sk, type: String(type), since: String(since) }));
}

export type KnownSubscriptions = ReturnType<typeof knownSubscriptions>;

/** What a process knows of the Subscriptions of Projects; each is read again when it is that old. */
export function knownSubscriptions({ table, now }: { table: Table; now(): number }, memoryMs: number) {
  const known = new Recent<{ untilMs: number; all: Promise<Map<string, ListedSubscription[]>> }>(10_000);
  const read = async (project: string) => {
    const all = await listSubscriptions(table, project);
    return Map.groupBy(all, ({ type }) => type);
  };
  const current = (project: string) => {
    const found = known.get(project);
    if (found && found.untilMs > now()) return found.all;
    const all = read(project);
    known.set(project, { untilMs: now() + memoryMs, all });
    // A read that failed is known to nobody.
    all.catch(() => known.set(project, { untilMs: 0, all }));
    return all;
  };
  return {
    /** @returns those that a write of a record of this type, at this instant, may be for */
    about: async (project: string, type: string, at: string) =>
      ((await current(project)).get(type) ?? []).filter(({ since }) => since <= at),
    /** How many a Project has. */
    count: async (project: string) =>
      [...(await current(project)).values()].reduce((sum, { length }) => sum + length, 0),
    forget: (project: string) => known.set(project, { untilMs: 0, all: Promise.resolve(new Map()) }),
  };
}
