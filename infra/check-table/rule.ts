import type { Resource } from '../../shared/base/resource.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import { readAll } from '../../shared/carry/table/pages.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { openState } from '../../shared/store/items/content.ts';
import { leadingItems } from '../../shared/store/items/reindex.ts';

/**
 * Says what is wrong with an item.
 * @param named what its key was made of, in the order of the arguments of its pattern in `shared/carry/table/keys.ts`
 */
export type TableRule = (item: Item, named: readonly string[], look: Look) => Promise<TableFinding[]>;

/** What a rule found wrong with an item. */
export interface TableFinding {
  text: string;
  /** It may be right until then, in ms since the epoch: what follows a write is done when its record is read. */
  settlesAtMs?: number;
}

export function when(isWrong: boolean, text: string): TableFinding[] {
  return isWrong ? [{ text }] : [];
}

/** The item that another needs is there. */
export async function needs(look: Look, key: Key, what: string): Promise<TableFinding[]> {
  return when((await look.get(key)) === undefined, `there is no ${what}`);
}

/** The resource that an item belongs to, by its partition. */
export function ownerIn({ pk }: Key): { project: string; type: string; id: string } {
  const [, project = '', type = '', id = ''] = pk.split('#');
  return { project, type, id };
}

/** What a rule looks at beside its item: everything is read anew, strongly consistent. */
export type Look = ReturnType<typeof lookAt>;

const mostKnown = 200;

/** @param settleMs how long after a write its followers may take */
export function lookAt(table: Table, settleMs: number) {
  const known = new Map<string, ReadonlyMap<string, Item>>();
  /** All items of a partition whose sort keys begin so. @param attributes only these of each */
  const all = (pk: string, prefix?: string, attributes?: readonly string[]): Promise<Item[]> =>
    readAll(table, pk, { prefix, attributes });
  return {
    ...{ table, all, get: together(table) },
    /** Whether a write of the resource is under way, or was cut off and waits for the sweep. */
    async isBeingWritten(project: string, type: string, id: string): Promise<boolean> {
      const { pk, sk } = keys.pending(project, type, id, '');
      return (await all(pk, sk)).length > 0;
    },
    /** The index items that a head is to have, by key as text; empty for a deletion. */
    async indexOf(project: string, head: Item): Promise<ReadonlyMap<string, Item>> {
      const name = `${nameOf(head)}\n${head.versionId}\n${head.ttl}`;
      const before = known.get(name);
      if (before) return before;
      const resource = await resourceOf(table, head);
      const items = resource ? leadingItems(project, resource, head) : [];
      const found = new Map(items.map((item) => [nameOf(item), item]));
      if (known.size >= mostKnown) known.delete(known.keys().next().value ?? '');
      known.set(name, found);
      return found;
    },
    /** When what follows a write of this instant is surely done. @param at an instant of R4 */
    settlesAt: (at: unknown): number => Date.parse(String(at)) + settleMs,
  };
}

/** The resource of a head or version; undefined for a deletion. @throws {Error} when its content does not open */
export async function resourceOf(table: Table, item: Item): Promise<Resource | undefined> {
  return (await openState(table, item))?.resource;
}

export function nameOf({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}

/** Reads by key of many rules at once, a hundred in a round trip. */
function together(table: Table): (key: Key) => Promise<Item | undefined> {
  let waiting: { key: Key; found: PromiseWithResolvers<Item | undefined> }[] = [];
  async function readWaiting(): Promise<void> {
    const asked = waiting;
    waiting = [];
    try {
      const read = await table.read(asked.map(({ key }) => key));
      for (const { key, found } of asked) found.resolve(read.get(key));
    } catch (error) {
      for (const { found } of asked) found.reject(error);
    }
  }
  return (key) => {
    const found = Promise.withResolvers<Item | undefined>();
    if (waiting.length === 0) setImmediate(() => void readWaiting());
    waiting.push({ key, found });
    return found.promise;
  };
}
