import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { keys } from './keys.ts';
import type { Item, Table } from './table.ts';

/** Longer texts are stored deflated: fewer write units, and more fits the 400 KB of an item. */
const deflateBeyond = 4096;

/** What one item may hold of a content; DynamoDB's limit is 400 KB with everything else in it. */
export const longestPieceBytes = 350 * 1024;

/** A resource's content as attributes of its head and version, and the items of its parts. */
export interface Packed {
  attributes: Record<string, unknown>;
  parts: Item[];
  /** Of the resource as JSON text. */
  sizeBytes: number;
}

/** A resource as text, or deflated when long. Numbers keep the digits they were sent with. */
export function packContent(resource: Resource): string | Uint8Array {
  return packText(stringifyJson(resource));
}

/** A text as an attribute. */
export function packText(text: string): string | Uint8Array {
  return text.length > deflateBeyond ? deflateRawSync(text) : text;
}

/** The same for a resource of any size up to 4 MiB: what does not fit an item is cut in parts. */
export function packResource(project: string, resource: Resource): Packed {
  const text = stringifyJson(resource);
  const sizeBytes = Buffer.byteLength(text);
  const content = packText(text);
  if (content.length <= longestPieceBytes) return { attributes: { content }, parts: [], sizeBytes };
  const parts = cutParts(project, resource, Buffer.from(content));
  return { attributes: { parts: parts.length }, parts, sizeBytes };
}

/** Bytes as the parts of a resource's state, each in a partition of its own. */
export function cutParts(
  project: string,
  { resourceType, id, meta }: Pick<Resource, 'resourceType' | 'id' | 'meta'>,
  bytes: Uint8Array,
): Item[] {
  return Array.from({ length: Math.ceil(bytes.length / longestPieceBytes) }, (_, n) => ({
    ...keys.part(project, resourceType, id, meta.versionId, n),
    bytes: bytes.subarray(n * longestPieceBytes, (n + 1) * longestPieceBytes),
  }));
}

/** Reads back what cutParts wrote. */
export async function readParts(
  table: Table,
  project: string,
  of: { type: string; id: string; versionId: string; parts: number },
): Promise<Buffer> {
  const wanted = Array.from({ length: of.parts }, (_, n) =>
    keys.part(project, of.type, of.id, of.versionId, n),
  );
  const found = await table.read(wanted);
  const pieces = wanted.flatMap((key) => (found.get(key)?.bytes as Uint8Array | undefined) ?? []);
  if (pieces.length < of.parts) throw new MissingPart();
  return Buffer.concat(pieces);
}

/** A state was written without all of its parts: its write was cut off, or this is a fault. */
export class MissingPart extends Error {}

/** The item with its content, which may have been stored in parts. */
export async function withContent(table: Table, project: string, item: Item): Promise<Item> {
  if (typeof item.parts !== 'number' || item.content !== undefined) return item;
  const [, , type = '', id = ''] = item.pk.split('#');
  const of = { type, id, versionId: String(item.versionId), parts: item.parts };
  return { ...item, content: await readParts(table, project, of) };
}

/** The resource's JSON text as it was packed. */
export function contentText(item: Item): string {
  return unpackText(item.content);
}

export function unpackText(content: unknown): string {
  return typeof content === 'string' ? content : inflateRawSync(content as Uint8Array).toString('utf8');
}
