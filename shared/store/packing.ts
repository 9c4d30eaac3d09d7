import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

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
  const wanted = Array.from({ length: parts }, (_, n) => keys.part(project, type, id, versionId, n));
  const found = await table.read(wanted);
  const pieces = wanted.flatMap((key) => {
    const bytes = found.get(key)?.bytes;
    return bytes instanceof Uint8Array ? [bytes] : [];
  });
  if (pieces.length < parts) throw new MissingPart();
  return Buffer.concat(pieces);
}
