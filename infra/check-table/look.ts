import type { Resource } from '../../shared/fhir/resource.ts';
import { openState } from '../../shared/store/content.ts';
import { leadingItems } from '../../shared/store/leading-items.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';

/** What a rule found wrong with an item. */
export interface Finding {
  text: string;
  /** It may be right until then, in ms since the epoch: what follows a write is done when its record is read. */
  settlesAtMs?: number;
}

/** What a rule looks at beside its item: everything is read anew, strongly consistent. */
export interface Look {
  readonly table: Table;
  get(key: Key): Promise<Item | undefined>;
  /** All items of a partition whose sort keys begin so. @param attributes only these of each */
  all(pk: string, prefix?: string, attributes?: readonly string[]): Promise<Item[]>;
  /** Whether a write of the resource is under way, or was cut off and waits for the sweep. */
  isBeingWritten(project: string, type: string, id: string): Promise<boolean>;
  /** The index items that a head is to have, by key as text; empty for a deletion. */
  indexOf(project: string, head: Item): Promise<ReadonlyMap<string, Item>>;
  /** When what follows a write of this instant is surely done. @param at an instant of R4 */
  settlesAt(at: unknown): number;
}

const mostKnown = 200;

/** @param settleMs how long after a write its followers may take */
export function lookAt(table: Table, settleMs: number): Look {
  const get = together(table);
  const known = new Map<string, Map<string, Item>>();
  return {
    table,
    get,
    all: (pk, prefix = '', attributes) => queryAll(table, pk, prefix, attributes),
    async isBeingWritten(project, type, id) {
      const { pk, sk } = keys.pending(project, type, id, '');
      return (await queryAll(table, pk, sk)).length > 0;
    },
    async indexOf(project, head) {
      const name = `${nameOf(head)}\n${head.versionId}\n${head.ttl}`;
      const before = known.get(name);
      if (before) return before;
      const resource = await resourceOf(table, project, head);
      const items = resource ? leadingItems(project, resource, head) : [];
      const found = new Map(items.map((item) => [nameOf(item), item]));
      if (known.size >= mostKnown) known.delete(known.keys().next().value ?? '');
      known.set(name, found);
      return found;
    },
    settlesAt: (at) => Date.parse(String(at)) + settleMs,
  };
}

/** The resource of a head or version; undefined for a deletion. @throws {Error} when its content does not open */
export async function resourceOf(table: Table, project: string, item: Item): Promise<Resource | undefined> {
  return (await openState({ table, project }, item))?.resource;
}

export function nameOf({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}

/** Reads by key of many rules at once, a hundred in a round trip. */
function together(table: Table): (key: Key) => Promise<Item | undefined> {
  let waiting: { key: Key; found: PromiseWithResolvers<Item | undefined> }[] = [];
  async function readAll(): Promise<void> {
    const asked = waiting;
    waiting = [];
    try {
      const found = await table.read(asked.map(({ key }) => key));
      for (const { key, found: one } of asked) one.resolve(found.get(key));
    } catch (error) {
      for (const { found: one } of asked) one.reject(error);
    }
  }
  return (key) => {
    const found = Promise.withResolvers<Item | undefined>();
    if (waiting.length === 0) setImmediate(() => void readAll());
    waiting.push({ key, found });
    return found.promise;
  };
}

async function queryAll(
  table: Table,
  pk: string,
  prefix: string,
  attributes?: readonly string[],
): Promise<Item[]> {
  const items: Item[] = [];
  const names = attributes && ['pk', 'sk', ...attributes];
  for (let from: Key | undefined; ; ) {
    const page = await table.query({
      KeyConditionExpression: prefix ? 'pk = :pk AND begins_with(sk, :prefix)' : 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk, ...(prefix ? { ':prefix': prefix } : {}) },
      ...(names
        ? {
            ProjectionExpression: names.map((_, i) => `#a${i}`).join(', '),
            ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#a${i}`, name])),
          }
        : {}),
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    items.push(...page.items);
    from = page.next;
    if (!from) return items;
  }
}
