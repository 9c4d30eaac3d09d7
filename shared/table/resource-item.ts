import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { keys } from './keys.ts';
import type { Item } from './table.ts';
import type { Action } from './transact.ts';

/** Longer texts are stored deflated: fewer write units, and more fits the 400 KB of an item. */
const deflateBeyond = 4096;

/** A resource as text, or deflated when long. Numbers keep the digits they were sent with. */
export function packContent(resource: Resource): string | Uint8Array {
  const text = stringifyJson(resource);
  return text.length > deflateBeyond ? deflateRawSync(text) : text;
}

/** The resource's JSON text as it was packed. */
export function contentText(item: Item): string {
  const content = item.content;
  return typeof content === 'string' ? content : inflateRawSync(content as Uint8Array).toString('utf8');
}

/** The resource of a head or version item; undefined when there is none or it was deleted. */
export function resourceOf(item: Item | undefined): Resource | undefined {
  return item && item.deleted !== true ? (JSON.parse(contentText(item)) as Resource) : undefined;
}

/** The attributes of a head that follow from its resource. */
export function headAttributes(resource: Resource): Record<string, unknown> {
  return {
    versionId: resource.meta.versionId,
    lastUpdated: resource.meta.lastUpdated,
    content: packContent(resource),
  };
}

/**
 * Creates a resource inside a transaction: its head, which must not exist, and its first version.
 * @param extra further attributes of the head, such as `refs`
 */
export function createActions(
  project: string,
  resource: Resource,
  extra: Record<string, unknown> = {},
): Action[] {
  const { resourceType, id, meta } = resource;
  return [
    {
      name: resourceType,
      put: { ...keys.resource(project, resourceType, id), ...headAttributes(resource), ...extra },
      if: 'attribute_not_exists(pk)',
    },
    {
      name: `${resourceType} version`,
      put: { ...keys.version(project, resourceType, id, meta.versionId), ...headAttributes(resource) },
    },
  ];
}

/**
 * Changes a resource inside a transaction, when its head still has the version that was seen.
 * Heads are changed by UpdateItem only, so that `refs` survives.
 */
export function updateActions(
  project: string,
  resource: Resource,
  seenVersionId: string,
  extra: Record<string, unknown> = {},
): Action[] {
  const { resourceType, id, meta } = resource;
  const attributes = { ...headAttributes(resource), ...extra };
  const names = Object.keys(attributes);
  return [
    {
      name: resourceType,
      update: keys.resource(project, resourceType, id),
      set: `SET ${names.map((_, i) => `#a${i} = :a${i}`).join(', ')}`,
      if: '#a0 = :seen',
      names: Object.fromEntries(names.map((name, i) => [`#a${i}`, name])),
      values: {
        ...Object.fromEntries(Object.values(attributes).map((value, i) => [`:a${i}`, value])),
        ':seen': seenVersionId,
      },
    },
    {
      name: `${resourceType} version`,
      put: { ...keys.version(project, resourceType, id, meta.versionId), ...headAttributes(resource) },
    },
  ];
}

/**
 * Deletes a resource inside a transaction. The head stays as a tombstone, so that a later read
 * answers "gone" and the history stays readable.
 * @param condition an ASCII ConditionExpression beside "it exists"; its values
 */
export function deleteActions(
  project: string,
  target: { type: string; id: string },
  stamp: { versionId: string; nowMs: number },
  condition: { if: string; values: Record<string, unknown> },
): Action[] {
  const attributes = {
    versionId: stamp.versionId,
    lastUpdated: new Date(stamp.nowMs).toISOString(),
    deleted: true,
  };
  return [
    {
      name: target.type,
      update: keys.resource(project, target.type, target.id),
      set: 'SET versionId = :version, lastUpdated = :now, deleted = :yes REMOVE content',
      if: `attribute_exists(pk) AND attribute_not_exists(deleted) AND (${condition.if})`,
      values: {
        ':version': attributes.versionId,
        ':now': attributes.lastUpdated,
        ':yes': true,
        ...condition.values,
      },
    },
    {
      name: `${target.type} version`,
      put: { ...keys.version(project, target.type, target.id, stamp.versionId), ...attributes },
    },
  ];
}
