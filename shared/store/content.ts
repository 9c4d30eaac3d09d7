import { parseJson, stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { readResource } from '../fhir/stored-resource.ts';
import { fieldsOf } from '../fields-of.ts';
import type { Item } from '../table/item.ts';
import type { Table } from '../table/table.ts';
import { isInlineType, requireInlineSize } from './inline-types.ts';
import { cutParts, longestPieceBytes, packText, readParts, unpackText } from './packing.ts';

/** A resource's content as attributes of its head and version, and the items of its parts. */
export interface Packed {
  attributes: Record<string, unknown>;
  parts: Item[];
  /** Of the resource as JSON text. */
  sizeBytes: number;
}

/** Whose resources are read. */
export interface Owner {
  table: Table;
  project: string;
}

/** A resource with the length of its JSON text. */
export interface Opened {
  resource: Resource;
  characters: number;
}

/**
 * A resource of any size up to 4 MiB as items: what does not fit one item is cut in parts. Numbers keep
 * the digits they were sent with.
 * @throws {Refusal} unprocessable, when a resource of an inline type is longer than these may be
 */
export function packResource(project: string, resource: Resource): Packed {
  const text = stringifyJson(resource);
  const sizeBytes = Buffer.byteLength(text);
  if (isInlineType(resource.resourceType)) requireInlineSize(resource.resourceType, sizeBytes);
  const content = packText(text);
  if (content.length <= longestPieceBytes) return { attributes: { content }, parts: [], sizeBytes };
  const { resourceType: type, id, meta } = resource;
  const parts = cutParts(project, { type, id, versionId: meta.versionId }, Buffer.from(content));
  return { attributes: { parts: parts.length }, parts, sizeBytes };
}

/**
 * The resource of a head or a version, wherever its content lies.
 * @returns undefined for a deletion
 * @throws {MissingPart} of a write that was cut off
 */
export async function openState({ table, project }: Owner, item: Item): Promise<Opened | undefined> {
  if (item.deleted === true) return undefined;
  const text = unpackText(item.content ?? (await contentInParts(table, project, item)));
  table.budget.spend('characters', text.length);
  return { resource: readResource(fieldsOf(parseJson(text))), characters: text.length };
}

async function contentInParts(table: Table, project: string, { pk, versionId, parts }: Item) {
  const [, , type = '', id = ''] = pk.split('#');
  return readParts(table, project, { type, id, versionId: String(versionId), parts: Number(parts) });
}
