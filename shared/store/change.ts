import type { Resource } from '../fhir/resource.ts';
import { historyIndex, type VersionAt } from '../index/history-index.ts';
import { indexKeys } from '../index/index-items.ts';
import { mostIndexItems } from '../limits.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import { type Packed, packResource } from './content.ts';

/** One resource created, changed or deleted, taken apart for `commit`. */
export interface Change {
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
  /** How many parts. */
  parts: number;
  /** New index items: until the head has their values they lead nowhere. */
  index: Item[];
  /** Index items of the state before that lead nowhere any more. */
  stale: Key[];
}

/** The state that a change was decided on: its version, and the resource unless it was deleted. */
export interface Seen {
  versionId: string;
  resource: Resource | undefined;
}

/** A resource that does not exist yet. @param extra further attributes of the head, such as `refs` */
export function createChange(
  project: string,
  resource: Resource,
  extra: Record<string, unknown> = {},
  packed: Packed = packResource(project, resource),
): Change {
  const { resourceType: type, id, meta } = resource;
  const attributes = stateAttributes(resource, packed);
  return {
    project,
    type,
    id,
    versionId: meta.versionId,
    head: (untidy) => ({
      name: `${type}/${id}`,
      put: { ...keys.resource(project, type, id), ...attributes, ...extra, ...(untidy ? { untidy } : {}) },
      if: 'attribute_not_exists(pk)',
    }),
    state: [versionItem(project, { type, id, ...meta }, attributes), ...packed.parts],
    parts: packed.parts.length,
    index: [
      historyItem(project, { type, id, ...meta }),
      ...indexItems(indexKeys(project, resource, mostIndexItems).values(), meta.versionId),
    ],
    stale: [],
  };
}

/**
 * The next state of a resource whose head still has the version that was seen. Heads are changed by
 * UpdateItem only, so that `refs` survives.
 * @param seen a version id alone when the resource is not known: the stream then finds what is stale
 */
export function updateChange(
  project: string,
  resource: Resource,
  seen: Seen | string,
  extra: Record<string, unknown> = {},
  packed: Packed = packResource(project, resource),
): Change {
  const { resourceType: type, id, meta } = resource;
  const seenVersionId = typeof seen === 'string' ? seen : seen.versionId;
  const attributes = stateAttributes(resource, packed);
  const before = typeof seen === 'string' || !seen.resource ? new Map() : indexKeys(project, seen.resource);
  const after = indexKeys(project, resource, mostIndexItems);
  const isNew = [...after].filter(([name]) => !before.has(name)).map(([, key]) => key);
  return {
    project,
    type,
    id,
    versionId: meta.versionId,
    head: (untidy) => {
      const isUntidy = untidy || typeof seen === 'string';
      const { values, ...change } = setAndRemove({
        ...{ content: undefined, parts: undefined, deleted: undefined, trace: undefined },
        ...attributes,
        ...extra,
        untidy: isUntidy || undefined,
      });
      return {
        name: `${type}/${id}`,
        update: keys.resource(project, type, id),
        ...change,
        if: 'versionId = :seen',
        values: { ...values, ':seen': seenVersionId },
      };
    },
    state: [
      versionItem(project, { type, id, ...meta }, { ...attributes, follows: seenVersionId }),
      ...packed.parts,
    ],
    parts: packed.parts.length,
    index: [historyItem(project, { type, id, ...meta }), ...indexItems(isNew, meta.versionId)],
    stale: [...before].filter(([name]) => !after.has(name)).map(([, key]) => key),
  };
}

export interface DeleteStamp {
  versionId: string;
  nowMs: number;
  /** Of the request that asks for it, kept on the head for whoever is told of it. */
  trace?: string | undefined;
}

/**
 * The end of a resource. The head stays as a tombstone, so that a later read answers "gone" and the
 * history stays readable.
 * @param condition an ASCII ConditionExpression beside "it exists"; its values
 */
export function deleteChange(
  project: string,
  { type, id }: { type: string; id: string },
  stamp: DeleteStamp,
  condition: { if: string; values: Record<string, unknown> },
  seen?: Seen,
): Change {
  const at = { versionId: stamp.versionId, lastUpdated: new Date(stamp.nowMs).toISOString() };
  const follows = seen ? { follows: seen.versionId } : {};
  return {
    project,
    type,
    id,
    versionId: stamp.versionId,
    head: (untidy) => {
      const isUntidy = untidy || seen === undefined;
      const { values, ...change } = setAndRemove({
        ...at,
        deleted: true,
        trace: stamp.trace,
        content: undefined,
        parts: undefined,
        untidy: isUntidy || undefined,
      });
      return {
        name: `${type}/${id}`,
        update: keys.resource(project, type, id),
        ...change,
        if: `attribute_exists(pk) AND attribute_not_exists(deleted) AND (${condition.if})`,
        values: { ...values, ...condition.values },
      };
    },
    state: [versionItem(project, { type, id, ...at }, { ...at, deleted: true, ...follows })],
    parts: 0,
    index: [historyItem(project, { type, id, ...at })],
    stale: seen?.resource ? [...indexKeys(project, seen.resource).values()] : [],
  };
}

/** All of a change as actions of one transaction. */
export function actionsOf({ head, state, index, stale, type }: Change): Action[] {
  return [
    head(false),
    ...state.map((put) => ({ name: `${type} version`, put })),
    ...index.map((put) => ({ name: `${type} index`, put })),
    ...stale.map((remove) => ({ name: `${type} stale index`, remove })),
  ];
}

/** Index items, each knowing the version that wrote it. */
export function indexItems(of: Iterable<Key>, versionId: string): Item[] {
  return [...of].map((key) => ({ ...key, v: versionId }));
}

function versionItem(project: string, at: VersionAt, attributes: Record<string, unknown>): Item {
  return { ...keys.version(project, at.type, at.id, at), ...attributes };
}

function historyItem(project: string, at: VersionAt): Item {
  return { ...historyIndex.key(project, at), v: at.versionId };
}

function stateAttributes({ meta }: Resource, { attributes }: Packed): Record<string, unknown> {
  return { versionId: meta.versionId, lastUpdated: meta.lastUpdated, ...attributes };
}

/** An update of a head: what is undefined is removed. Names are numbered, so that none is reserved. */
function setAndRemove(attributes: Record<string, unknown>) {
  const all = Object.entries(attributes).map(([name, value], i) => ({ name, value, at: `a${i}` }));
  const set = all.filter(({ value }) => value !== undefined);
  const removed = all.filter(({ value }) => value === undefined);
  const remove = removed.length > 0 ? ` REMOVE ${removed.map(({ at }) => `#${at}`).join(', ')}` : '';
  return {
    set: `SET ${set.map(({ at }) => `#${at} = :${at}`).join(', ')}${remove}`,
    names: Object.fromEntries(all.map(({ name, at }) => [`#${at}`, name] as const)),
    values: Object.fromEntries(set.map(({ value, at }) => [`:${at}`, value])),
  };
}
