import { runKeys } from '../audit/run-index.ts';
import type { Resource } from '../fhir/resource.ts';
import { indexKeys } from '../search/index-items.ts';
import { isResourceType } from '../search/registry.ts';
import { historyKey, indexItems } from './change.ts';
import { pendingItem } from './commit.ts';
import { MissingPart, withContent } from './content.ts';
import { type Key, keys, parseHead, pendingPartitions } from './keys.ts';
import { resourceOf } from './resource-item.ts';
import type { Item, Table } from './table.ts';
import { ConditionFailed } from './transact.ts';
import { listVersions } from './versions.ts';

/** Longer than any request lives: a note older than this is of a write that was cut off. */
const cutOffMs = 120_000;

interface Store {
  table: Table;
  now(): number;
}

interface Target {
  project: string;
  type: string;
  id: string;
}

/**
 * What a change left to do, from its record in the table's stream: index items of an earlier state
 * go, and an AuditEvent gets its index items. Reading a record twice, or late, does no harm.
 * @param record the item before and after, as plain values
 */
export async function tidyAfter(
  { table, now }: Store,
  record: { before?: Item | undefined; after?: Item | undefined },
): Promise<void> {
  const { before, after } = record;
  const target = after?.untidy === true ? parseHead(after) : undefined;
  if (!after || !target || !isResourceType(target.type) || before?.versionId === after.versionId) return;
  const versionId = String(after.versionId);
  if (!before && target.type === 'AuditEvent') {
    const event = resourceOf(after);
    if (!event) return;
    const all = [...indexKeys(target.project, event).values(), ...runKeys(target.project, event)];
    // What leads to a record is forgotten with it.
    const ttl = after.ttl === undefined ? {} : { ttl: after.ttl };
    return table.write(indexItems(all, versionId).map((item) => ({ ...item, ...ttl })));
  }
  await removeStale({ table, now }, target, versionId, await keysOf(table, target.project, [before]));
}

/** Tidies up after writes that were cut off before or after their commit. @returns how many */
export async function sweepCutOff({ table, now }: Store): Promise<number> {
  let swept = 0;
  for (const partition of pendingPartitions()) {
    let from: Key | undefined;
    do {
      const page = await table.query({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': partition },
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      for (const note of page.items) {
        if (Number(note.atMs) > now() - cutOffMs) continue;
        await sweepOne({ table, now }, note);
        swept++;
      }
      from = page.next;
    } while (from);
  }
  return swept;
}

async function sweepOne(store: Store, note: Item): Promise<void> {
  const { table } = store;
  const target = { project: String(note.project), type: String(note.type), id: String(note.id) };
  const versionId = String(note.versionId);
  const versions = await versionItems(table, target);
  const written = versions.find((item) => item.versionId === versionId);
  const previous = versions.find((item) => item.versionId === written?.follows);
  const candidates = await keysOf(table, target.project, [written, previous]);
  if (!(await isCommitted(table, target, versionId))) {
    const parts = Array.from({ length: Number(note.parts) }, (_, n) =>
      keys.part(target.project, target.type, target.id, versionId, n),
    );
    const at = written && { ...target, versionId, lastUpdated: String(written.lastUpdated) };
    await table.write([], [...(at ? [written, historyKey(target.project, at)] : []), ...parts]);
  }
  await removeStale(store, target, versionId, candidates);
}

/**
 * Removes those of the index items that the head as it stands does not have. The order of the three
 * reads matters: an item that another write put after the first of them is protected by its version,
 * one put before by that write's note or its head.
 */
async function removeStale(
  { table, now }: Store,
  target: Target,
  versionId: string,
  candidates: ReadonlyMap<string, Key>,
): Promise<void> {
  const { project, type, id } = target;
  const own = keys.pending(project, type, id, versionId);
  const all = [...candidates.values()];
  const found = await table.read(all);
  const seen = all.flatMap((key) => found.get(key) ?? []);
  if (await isWrittenNow({ table, now }, target, own)) {
    return table.write([pendingItem({ ...target, versionId, parts: 0 }, now())]);
  }
  const head = (await table.read([keys.resource(project, type, id)])).get(keys.resource(project, type, id));
  const live = await keysOf(table, project, [head]);
  const stale = seen.filter((item) => !live.has(`${item.pk}\n${item.sk}`));
  await Promise.all(stale.map((item) => removeUnchanged(table, item)));
  await table.write([], [own]);
}

async function removeUnchanged(table: Table, item: Item): Promise<void> {
  const remove = { pk: item.pk, sk: item.sk };
  try {
    await table.transact([{ name: 'stale', remove, if: 'v = :v', values: { ':v': item.v } }]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** Whether another write of this resource may be between its steps. */
async function isWrittenNow({ table, now }: Store, target: Target, own: Key): Promise<boolean> {
  const { project, type, id } = target;
  const page = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': own.pk, ':prefix': `${project}#${type}#${id}#` },
  });
  return page.items.some(({ sk, atMs }) => sk !== own.sk && Number(atMs) > now() - cutOffMs);
}

async function isCommitted(table: Table, target: Target, versionId: string): Promise<boolean> {
  const headKey = keys.resource(target.project, target.type, target.id);
  const head = (await table.read([headKey])).get(headKey);
  if (!head) return false;
  for await (const { item } of listVersions(table, target, { expected: String(head.versionId) })) {
    if (item.versionId === versionId) return true;
  }
  return false;
}

async function versionItems(table: Table, { project, type, id }: Target): Promise<Item[]> {
  const page = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': keys.resource(project, type, id).pk, ':prefix': 'V#' },
    ScanIndexForward: false,
  });
  return page.items;
}

/** The index items that these states of a resource have, by their key as text. */
async function keysOf(
  table: Table,
  project: string,
  items: readonly (Item | undefined)[],
): Promise<Map<string, Key>> {
  const states = await Promise.all(items.map((item) => item && stateOf(table, project, item)));
  return new Map(states.flatMap((resource) => (resource ? [...indexKeys(project, resource)] : [])));
}

/** Index items are written after all parts: a state without one of them has none. */
async function stateOf(table: Table, project: string, item: Item): Promise<Resource | undefined> {
  try {
    return resourceOf(await withContent(table, project, item));
  } catch (error) {
    if (error instanceof MissingPart) return undefined;
    throw error;
  }
}
