import { createHash } from 'node:crypto';

/**
 * The id that a resource of a data set gets, whenever and wherever it is loaded: a UUID of version 8 (RFC 9562
 * section 5.8) from the names of both.
 * @param source the resource's name in its data set, such as `Patient/1` or `urn:uuid:…`
 */
export function derivedId(dataSet: string, type: string, source: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([dataSet, type, source]))
    .digest('hex');
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ].join('-');
}
