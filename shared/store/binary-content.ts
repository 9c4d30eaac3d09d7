import type { Resource } from '../fhir/resource.ts';
import type { Item } from '../table/item.ts';
import type { Table } from '../table/table.ts';
import type { Packed } from './content.ts';
import { cutParts, readParts } from './packing.ts';

/** The bytes of a Binary, kept beside its resource. */
export interface BinaryContent {
  bytes: Uint8Array;
}

interface State {
  resource: Resource;
  packed: Packed;
}

/**
 * The state of a Binary with its bytes, in parts beside the resource. When only the resource was
 * sent the bytes stay those of the version before.
 */
export function withBytes(
  project: string,
  state: State,
  content: BinaryContent | undefined,
  before?: Item,
): State {
  const { resource, packed } = state;
  if (resource.resourceType !== 'Binary') return state;
  if (!content)
    return { resource, packed: { ...packed, attributes: { ...packed.attributes, ...bytesOf(before) } } };
  const { id, meta } = resource;
  const parts = cutParts(project, { type: 'Binary', id, versionId: meta.versionId }, content.bytes);
  const attributes = {
    ...packed.attributes,
    byteParts: parts.length,
    byteSize: content.bytes.length,
    bytesOf: resource.meta.versionId,
  };
  return { resource, packed: { ...packed, attributes, parts: [...packed.parts, ...parts] } };
}

function bytesOf(item: Item | undefined): Record<string, unknown> {
  return { byteParts: item?.byteParts ?? 0, byteSize: item?.byteSize ?? 0, bytesOf: item?.bytesOf ?? '' };
}

/** The bytes of a Binary by its head or one of its versions. */
export async function readBytes(table: Table, project: string, id: string, item: Item): Promise<Buffer> {
  const of = { type: 'Binary', id, versionId: String(item.bytesOf), parts: Number(item.byteParts ?? 0) };
  return readParts(table, project, of);
}
