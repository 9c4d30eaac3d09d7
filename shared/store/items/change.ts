import { mostIndexItems } from '../../base/limits.ts';
import type { Resource } from '../../base/resource.ts';
import { unlimitedBudget } from '../../carry/table/budget.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { drawingOn } from '../../carry/table/metered.ts';
import type { Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { withoutEmpty } from '../fhir/fields.ts';
import { historyIndex, indexKeys, type VersionAt } from '../index/index-items.ts';
import { type Packed, packResource } from './content.ts';

/** One resource created, changed or deleted, taken apart for `commit`. */
export interface ResourceChange {
  project: string;
  type: string;
  id: string;
  versionId: string;
  /**
   * The conditional write of the head: with it the change is made.
   * @param untidy index items of the state before stay behind, for the reader of the stream to remove
   */
  head(untidy: boolean): Action;
  /** The version and the parts of its content. They mean nothing until the head names them. */
  state: Item[];
  parts: number;
  /** New index items: until the head has their values they lead nowhere. */
  index: Item[];
  /** Index items of the state before that lead nowhere any more. */
  stale: Key[];
}

/** The state that a change was decided on: its version, and the resource unless it was deleted. */
export interface PriorState {
  versionId: string;
  resource: Resource | undefined;
}

/** A resource that does not exist yet. @param extra further attributes of the head, such as `refs` */
export function createChange(
  project: string,
  resource: Resource,
  extra: Record<string, unknown> = {},
  packed: Packed = packResource(project, resource),
): ResourceChange {
  const attributes = stateAttributes(resource, packed);
  return changeOf(project, versionAt(resource), {
    ...{ attributes, parts: packed.parts, after: resource },
    head: (key, untidy) => ({
      put: { ...key, ...attributes, ...extra, ...(untidy ? { untidy } : {}) },
      if: 'attribute_not_exists(pk)',
    }),
  });
}

/**
 * The next state of a resource whose head still has the version that was seen. Heads are changed by
 * UpdateItem only, so that `refs` survives.
 */
export function updateChange(
  project: string,
  resource: Resource,
  seen: PriorState | Resource,
  extra: Record<string, unknown> = {},
  packed: Packed = packResource(project, resource),
): ResourceChange {
  const { versionId: follows, resource: before } = priorOf(seen);
  const attributes = stateAttributes(resource, packed);
  const removed = { content: undefined, parts: undefined, deleted: undefined, trace: undefined };
  return changeOf(project, versionAt(resource), {
    attributes: { ...attributes, follows },
    ...{ parts: packed.parts, before, after: resource },
    head: (key, untidy) =>
      updateHead(
        key,
        { ...removed, ...attributes, untidy: untidy || undefined, ...extra },
        { if: 'versionId = :seen', values: { ':seen': follows } },
      ),
  });
}

/**
 * The end of a resource as it was seen. The head stays as a tombstone, so that a later read answers "gone" and
 * the history stays readable.
 * @param stamp `trace` of the request that asks for it, kept on the head for whoever is told of it
 * @param further an ASCII ConditionExpression beside "it is still so"; its values
 */
export function deleteChange(
  project: string,
  seen: Resource,
  { versionId, nowMs, trace }: { versionId: string; nowMs: number; trace?: string | undefined },
  further?: { if: string; values: Record<string, unknown> },
): ResourceChange {
  const { resourceType: type, id, meta } = seen;
  const attributes = { versionId, lastUpdated: new Date(nowMs).toISOString(), deleted: true };
  const isSeen = 'attribute_exists(pk) AND attribute_not_exists(deleted) AND versionId = :seen';
  return changeOf(
    project,
    { type, id, ...attributes },
    {
      attributes: { ...attributes, follows: meta.versionId },
      ...{ parts: [], before: seen },
      head: (key, untidy) =>
        updateHead(
          key,
          { ...attributes, trace, content: undefined, parts: undefined, untidy: untidy || undefined },
          {
            if: further ? `${isSeen} AND (${further.if})` : isSeen,
            values: { ':seen': meta.versionId, ...further?.values },
          },
        ),
    },
  );
}

function priorOf(seen: PriorState | Resource): PriorState {
  return 'meta' in seen ? { versionId: seen.meta.versionId, resource: seen } : seen;
}

function versionAt({ resourceType: type, id, meta }: Resource): VersionAt {
  const { versionId, lastUpdated } = meta;
  return { type, id, versionId, lastUpdated };
}

function stateAttributes({ meta }: Resource, { attributes }: Packed): Record<string, unknown> {
  return { versionId: meta.versionId, lastUpdated: meta.lastUpdated, ...attributes };
}

type HeadWrite =
  | Omit<Extract<Action, { put: Item }>, 'name'>
  | Omit<Extract<Action, { set: string }>, 'name'>;

function changeOf(
  project: string,
  at: VersionAt,
  of: {
    attributes: Record<string, unknown>;
    parts: Item[];
    before?: Resource | undefined;
    after?: Resource;
    head(key: Key, untidy: boolean): HeadWrite;
  },
): ResourceChange {
  const { type, id, versionId } = at;
  const before = of.before ? indexKeys(project, of.before) : new Map<string, Key>();
  const after = of.after ? indexKeys(project, of.after, mostIndexItems) : new Map<string, Key>();
  const without = (some: Map<string, Key>, others: Map<string, Key>) =>
    [...some].flatMap(([name, key]) => (others.has(name) ? [] : [key]));
  return {
    ...{ project, type, id, versionId },
    head: (untidy) => ({ name: `${type}/${id}`, ...of.head(keys.resource(project, type, id), untidy) }),
    state: [{ ...keys.version(project, type, id, at), ...of.attributes }, ...of.parts],
    parts: of.parts.length,
    index: indexItems([historyIndex.key(project, at), ...without(after, before)], versionId),
    stale: without(before, after),
  };
}

/** What is undefined is removed. Names are numbered, so that none is reserved. */
function updateHead(
  key: Key,
  attributes: Record<string, unknown>,
  condition: { if: string; values: Record<string, unknown> },
): HeadWrite {
  const all = Object.entries(attributes).map(([name, value], i) => ({ name, value, at: `a${i}` }));
  const set = all.filter(({ value }) => value !== undefined);
  const removed = all.filter(({ value }) => value === undefined).map(({ at }) => `#${at}`);
  const remove = removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : '';
  return {
    update: key,
    set: `SET ${set.map(({ at }) => `#${at} = :${at}`).join(', ')}${remove}`,
    names: Object.fromEntries(all.map(({ name, at }) => [`#${at}`, name])),
    if: condition.if,
    values: { ...Object.fromEntries(set.map(({ value, at }) => [`:${at}`, value])), ...condition.values },
  };
}

/** Index items, each knowing the version that wrote it. */
export function indexItems(of: Iterable<Key>, versionId: string): Item[] {
  return [...of].map((key) => ({ ...key, v: versionId }));
}

/** All of a change as actions of one transaction, which holds 100: for small resources. */
export function actionsOf({ head, state, index, stale, type }: ResourceChange): Action[] {
  return [
    head(false),
    ...state.map((put) => ({ name: `${type} version`, put })),
    ...index.map((put) => ({ name: `${type} index`, put })),
    ...stale.map((remove) => ({ name: `${type} stale index`, remove })),
  ];
}

/** `createChange` inside of a transaction, without what is empty. Who asks for one resource of a type knows its head by the type. */
export function createActions(...[project, resource, ...more]: Parameters<typeof createChange>): Action[] {
  return actionsNamedByType(createChange(project, withoutEmpty(resource), ...more));
}

/** `updateChange` inside of a transaction, without what is empty. */
export function updateActions(...[project, resource, ...more]: Parameters<typeof updateChange>): Action[] {
  return actionsNamedByType(updateChange(project, withoutEmpty(resource), ...more));
}

/** `deleteChange` inside of a transaction. */
export function deleteActions(...of: Parameters<typeof deleteChange>): Action[] {
  return actionsNamedByType(deleteChange(...of));
}

function actionsNamedByType(change: ResourceChange): Action[] {
  return actionsOf({ ...change, head: (untidy) => ({ ...change.head(untidy), name: change.type }) });
}

/** DynamoDB: a transaction holds 100 actions and 4 MB. */
export const mostActions = 100;
const mostBytes = 3_500_000;

/**
 * Makes changes, all or none. What fits one transaction is one. Otherwise in steps: a note that they
 * are under way; versions and parts; index items; none of which means anything until the last step,
 * one transaction of the heads. A crash in between leaves the old state, and the note for the sweep.
 * Stale index items then go when the stream is read.
 * @param more further actions of the same transaction, such as the AuditEvent
 * @throws {ConditionFailed} naming `Type/id` of each head that was no longer as it was seen
 */
export async function commit(
  table: Table,
  changes: readonly ResourceChange[],
  { more, nowMs }: { more: readonly Action[]; nowMs: number },
): Promise<void> {
  const whole = [...changes.flatMap(actionsOf), ...more];
  if (whole.length <= mostActions && sizeOf(whole) <= mostBytes) return table.transact(whole);

  const inert = changes.reduce((sum, { state, index }) => sum + state.length + index.length, 0);
  // Before the first step: what costs too much must not be cut off between two, whatever is done beside it.
  table.budget.spend('writes', 2 * changes.length + inert + more.length);
  const paid = drawingOn(table, unlimitedBudget);
  await paid.write(changes.map((change) => pendingItem(change, nowMs)));
  await paid.write(changes.flatMap(({ state }) => state.map(doubtful)));
  await paid.write(changes.flatMap(({ index }) => index));
  await paid.transact([...changes.map(({ head }) => head(true)), ...more]);
}

/** The note that a write is under way; it says all that a sweep needs to undo or to finish it. */
export function pendingItem(
  {
    project,
    type,
    id,
    versionId,
    parts,
  }: Pick<ResourceChange, 'project' | 'type' | 'id' | 'versionId' | 'parts'>,
  atMs: number,
): Item {
  return { ...keys.pending(project, type, id, versionId), project, type, id, versionId, parts, atMs };
}

/** A version that was written before its head counts only when the head, or a later version, names it. */
function doubtful(item: Item): Item {
  return item.versionId === undefined ? item : { ...item, doubtful: true };
}

/** Roughly what DynamoDB counts: contents and parts are by far the most of it. */
function sizeOf(actions: readonly Action[]): number {
  return actions.reduce(
    (sum, action) => sum + 300 + bytesOf('put' in action ? action.put : action.values),
    0,
  );
}

function bytesOf(attributes: Record<string, unknown> = {}): number {
  return Object.values(attributes).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + Buffer.byteLength(value);
    return value instanceof Uint8Array ? sum + value.length : sum;
  }, 0);
}
