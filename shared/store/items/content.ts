import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { jsonBytes, parseJson, stringifyJson } from '../../base/json.ts';
import { longestInlineBytes } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { administrativeTypes, type Resource } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, parseHead } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import { membershipSchema, type ProjectMembership } from '../fhir/membership.ts';
import { readResource } from '../fhir/stored-resource.ts';

/**
 * Types that requests read on their way to something else. They are bounded, so that their content
 * always lies in the one item of their head; every other type may lie in parts (`openState`).
 */
const inlineTypes = [...administrativeTypes, 'Subscription'] as const;

type InlineType = (typeof inlineTypes)[number];

/** @throws {Refusal} unprocessable; AuditEvents are the system's own and stay within what they tell of */
export function requireInlineSize(type: string, sizeBytes: number): void {
  const isBound = type !== 'AuditEvent' && inlineTypes.some((one) => one === type);
  if (!isBound || sizeBytes <= longestInlineBytes) return;
  throw new Refusal('unprocessable', `A resource of type ${type} is at most ${longestInlineBytes / 1024} KB`);
}

/** Longer texts are stored deflated: fewer write units, and more fits the 400 KB of an item. */
const deflateBeyond = 4096;

/** What one item may hold of a content; DynamoDB's limit is 400 KB with everything else in it. */
export const longestPieceBytes = 350 * 1024;

/** A text as an attribute. @param beyond how many characters it is deflated */
export function packText(text: string, beyond = deflateBeyond): string | Uint8Array {
  return text.length > beyond ? deflateRawSync(text) : text;
}

/** @throws {Error} when it is no packed text */
export function unpackText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content instanceof Uint8Array) return inflateRawSync(content).toString('utf8');
  throw new Error('The content of an item is missing');
}

/** Whose parts: one version of a resource, or a text beside another item. */
export interface PartsOwner {
  type: string;
  id: string;
  versionId: string;
}

/** Bytes as the items of their parts, each in a partition of its own. */
export function cutParts(project: string, { type, id, versionId }: PartsOwner, bytes: Uint8Array): Item[] {
  return Array.from({ length: Math.ceil(bytes.length / longestPieceBytes) }, (_, n) => ({
    ...keys.part(project, type, id, versionId, n),
    bytes: bytes.subarray(n * longestPieceBytes, (n + 1) * longestPieceBytes),
  }));
}

/** A state was written without all of its parts: its write was cut off, or this is a fault. */
export class MissingPart extends Error {}

/** Reads back what cutParts wrote. @throws {MissingPart} */
export async function readParts(
  table: Table,
  project: string,
  { type, id, versionId, parts }: PartsOwner & { parts: number },
): Promise<Buffer> {
  const all = Array.from({ length: parts }, (_, n) => keys.part(project, type, id, versionId, n));
  const found = await table.read(all);
  const pieces = all.flatMap((key) => {
    const bytes = found.get(key)?.bytes;
    return bytes instanceof Uint8Array ? [bytes] : [];
  });
  if (pieces.length < parts) throw new MissingPart();
  return Buffer.concat(pieces);
}

/** A resource's content as attributes of its head and version, and the items of its parts. */
export interface Packed {
  attributes: Record<string, unknown>;
  parts: Item[];
  /** Of the resource as JSON text. */
  sizeBytes: number;
}

/** Whose resources are read. */
export interface ProjectTable {
  table: Table;
  project: string;
}

/** A resource with the length of its JSON text. */
export interface OpenedResource {
  resource: Resource;
  bytes: number;
}

/**
 * A resource of any size up to 4 MiB as items: what does not fit one item is cut in parts. Numbers keep
 * the digits they were sent with.
 * @throws {Refusal} unprocessable, when a resource of an inline type is longer than these may be
 */
export function packResource(project: string, resource: Resource): Packed {
  const text = stringifyJson(resource);
  const sizeBytes = Buffer.byteLength(text);
  requireInlineSize(resource.resourceType, sizeBytes);
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
export async function openState(table: Table, item: Item): Promise<OpenedResource | undefined> {
  if (item.deleted === true) return undefined;
  const text = unpackText(item.content ?? (await partsOf(table, item, item.versionId, item.parts)));
  const bytes = Buffer.byteLength(text);
  table.budget.spend('bytes', bytes);
  return { resource: readResource(fieldsOf(parseJson(text))), bytes };
}

/** How long that is which the caller sees of it: the length of all would tell of the rest. */
export function bytesSeen({ resource, bytes }: OpenedResource, seen: Resource): number {
  return seen === resource ? bytes : jsonBytes(seen);
}

/**
 * The content of a Binary with its bytes, in parts beside the resource. When only the resource was
 * sent the bytes stay those of the version before.
 */
export function withBytes(
  project: string,
  { resourceType, id, meta }: Resource,
  packed: Packed,
  bytes: Uint8Array | undefined,
  before?: Item,
): Packed {
  if (resourceType !== 'Binary') return packed;
  const { versionId } = meta;
  const parts = bytes ? cutParts(project, { type: 'Binary', id, versionId }, bytes) : [];
  const {
    byteParts = 0,
    byteSize = 0,
    bytesOf = '',
  } = bytes ? { byteParts: parts.length, byteSize: bytes.length, bytesOf: versionId } : (before ?? {});
  const attributes = { ...packed.attributes, byteParts, byteSize, bytesOf };
  return { ...packed, attributes, parts: [...packed.parts, ...parts] };
}

/** The bytes of a Binary by its head or one of its versions. */
export async function readBytes(table: Table, item: Item): Promise<Buffer> {
  return partsOf(table, item, item.bytesOf, item.byteParts ?? 0);
}

function partsOf(table: Table, { pk }: Item, versionId: unknown, parts: unknown): Promise<Buffer> {
  const [, project = '', type = '', id = ''] = pk.split('#');
  return readParts(table, project, { type, id, versionId: String(versionId), parts: Number(parts) });
}

/** The attributes of a head, beside its key, that `inlineResource` looks at. */
export const inlineAttributes = ['content', 'deleted'] as const;

/**
 * The resource of a head whose type keeps its content inline.
 * @returns undefined when there is none, or it was deleted
 * @throws {Error} when the item is not the head of a resource of that type
 */
export function inlineResource<Type extends InlineType>(
  type: Type,
  item: Item | undefined,
): InlineResource<Type> | undefined;
export function inlineResource(type: InlineType, item: Item | undefined): Resource | undefined {
  if (!item || item.deleted === true) return undefined;
  // Users live above Projects, under keys of their own.
  const found = item.pk.startsWith('U#') ? 'User' : parseHead(item)?.type;
  if (found !== type) throw new Error(`The item is not the head of a resource of type ${type}`);
  const resource: object = JSON.parse(unpackText(item.content));
  return type === 'ProjectMembership' ? readMembership(resource) : readResource(resource);
}

const readMembership = stored('ProjectMembership', membershipSchema);

/** What is known of a resource by its type. */
type InlineResource<Type extends InlineType> = Type extends 'ProjectMembership'
  ? ProjectMembership
  : Resource;

/** Whether a head is that of a resource that exists: what its content says is not asked. */
export function isStanding(item: Item | undefined): item is Item {
  return item !== undefined && item.deleted !== true;
}

/**
 * The attributes of a head that follow from its resource: of those that have no versions.
 * @throws {Refusal} unprocessable, when it is longer than such a resource may be
 */
export function headAttributes(resource: Resource) {
  const text = stringifyJson(resource);
  requireInlineSize(resource.resourceType, Buffer.byteLength(text));
  const { versionId, lastUpdated } = resource.meta;
  return { versionId, lastUpdated, content: packText(text) };
}
