import { createHash } from 'node:crypto';
import { invalidField } from '../refusal.ts';

/** What a cursor belongs to: a Project, and one listing with its parameters. */
export interface Listing {
  project: string;
  /** Equal for equal listings. */
  name: string;
}

/**
 * Where the next page goes on, as an opaque text bound to its listing: with another it is refused. It
 * holds a place inside the very partitions that the listing reads anyway, whose keys are built from the
 * caller's own Project, so there is nothing to gain by forging it.
 */
export function writeCursor(listing: Listing, position: unknown): string {
  return Buffer.from(JSON.stringify([bindingOf(listing), position])).toString('base64url');
}

/**
 * The position of a cursor. It comes back from outside, so any JSON may stand there.
 * @param parse undefined for what cannot be a position of this listing
 * @returns undefined when there is no cursor
 * @throws {Refusal} invalid
 */
export function readCursor<P>(
  listing: Listing,
  cursor: string | undefined,
  parse: (position: unknown) => P | undefined,
): P | undefined {
  if (cursor === undefined) return undefined;
  const [binding, position] = pairIn(cursor);
  const parsed = binding === bindingOf(listing) ? parse(position) : undefined;
  if (parsed === undefined) throw invalidField('_cursor', 'The cursor does not belong to this search');
  return parsed;
}

/** A position that is a sort key between two others, both inside; DynamoDB takes none longer than 1,024 bytes. */
export function sortKeyBetween(from: string, to: string) {
  return (position: unknown): string | undefined =>
    isSortKey(position) && position >= from && position <= to ? position : undefined;
}

/** A position that is a sort key with this prefix. */
export function sortKeyWith(prefix: string) {
  return (position: unknown): string | undefined =>
    isSortKey(position) && position.startsWith(prefix) ? position : undefined;
}

const longestSortKey = 1024;

/** Whether DynamoDB would take it as a sort key. */
export function isSortKey(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= longestSortKey;
}

function pairIn(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function bindingOf({ project, name }: Listing): string {
  return createHash('sha256').update(`${project}\n${name}`).digest('base64url').slice(0, 16);
}
