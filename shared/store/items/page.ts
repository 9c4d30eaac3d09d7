import { createHash } from 'node:crypto';
import { mostEntryBytes } from '../../base/limits.ts';
import { invalidField } from '../../base/refusal.ts';
import { fieldsOf } from '../../base/values.ts';
import { seal, unseal } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { byChance } from '../../carry/table/budget.ts';
import { isSortKey } from '../../carry/table/keys.ts';

/** One thing that a listing comes to, in its order. */
export interface PositionedValue<T, P> {
  /** Where the listing goes on behind it. */
  position: P;
  /** Undefined for what was looked at and is not for the caller. */
  value: T | undefined;
}

/** Some values of a listing; `next` is where the following page goes on, if there may be one. */
export interface Page<T, P> {
  values: T[];
  next: P | undefined;
  /** Whether the page ends behind something that is not for the caller. */
  isPassedOver: boolean;
  /** How many values the following page has still to leave out. */
  offset: number;
}

export interface PageOptions<T> {
  count: number;
  /** Values that come first and are left out. */
  offset?: number;
  /** Bytes of a value in the answer: a page ends early rather than being longer than an answer may be. */
  sizeOf(value: T): number;
}

/**
 * A page passes over no more than this, a quarter more or less by chance: it then ends early, even empty, and the next goes
 * on from there. By an exact bound who comes up to it would learn of one more.
 */
const mostPassedOver = 2000;

/** The first page of a listing. */
export async function takePage<T, P>(
  listing: AsyncIterable<PositionedValue<T, P>>,
  { count, offset = 0, sizeOf }: PageOptions<T>,
): Promise<Page<T, P>> {
  const values: T[] = [];
  let shown: P | undefined;
  let left = offset;
  let bytes = 0;
  const most = byChance(mostPassedOver);
  let passedOver = 0;
  for await (const { position, value } of listing) {
    if (value !== undefined && left > 0) left--;
    else if (value !== undefined) {
      bytes += sizeOf(value);
      const isFull = values.length === count || (bytes > mostEntryBytes && values.length > 0);
      // Not what was passed over since: a position tells of what is there.
      if (isFull) return { values, next: shown, isPassedOver: false, offset: 0 };
      values.push(value);
      shown = position;
      continue;
    }
    const isPassedOver = value === undefined;
    if (++passedOver > most) return { values, next: position, isPassedOver, offset: left };
  }
  return { values, next: undefined, isPassedOver: false, offset: 0 };
}

const usualCount = 20;
const mostCount = 100;

/** `_count`, 20 unless it is said and 100 at most, and `_cursor` of a list. @throws {Refusal} invalid */
export function parsePage(query: URLSearchParams): { count: number; cursor: string | undefined } {
  const text = query.get('_count') ?? String(usualCount);
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalidField('_count', '_count must be a positive whole number');
  return { count: Math.min(Number(text), mostCount), cursor: query.get('_cursor') ?? undefined };
}

/** What a cursor belongs to: a Project, and one listing with its parameters. */
export interface CursorListing {
  project: string;
  /** Equal for equal listings. */
  name: string;
}

/**
 * Where the next page goes on, as an opaque text bound to its listing: with another it is refused. It
 * holds a place inside the very partitions that the listing reads anyway, whose keys are built from the
 * caller's own Project: one that is forged leads to nothing else.
 */
export function writeCursor(listing: CursorListing, position: unknown): string {
  return Buffer.from(JSON.stringify([bindingOf(listing), position])).toString('base64url');
}

const use = 'cursor';

/** The same of a page: what it ends behind and is not for the caller, its cursor does not name. */
export async function writePageCursor<P>(
  { runTokenKeys: ring }: Pick<Services, 'runTokenKeys'>,
  listing: CursorListing,
  { next, isPassedOver }: Page<unknown, P>,
): Promise<string | undefined> {
  if (next === undefined) return undefined;
  if (!isPassedOver || !ring) return writeCursor(listing, next);
  const { key } = await ring.current();
  return writeCursor(listing, { sealed: seal(key, { use, of: sealedFor(listing) }, JSON.stringify(next)) });
}

/** Reads what `writePageCursor` wrote, as `readCursor` does. @throws {Refusal} invalid */
export async function readPageCursor<P>(
  { runTokenKeys: ring }: Pick<Services, 'runTokenKeys'>,
  listing: CursorListing,
  cursor: string | undefined,
  parse: (position: unknown) => P | undefined,
): Promise<P | undefined> {
  const versions = cursor === undefined ? [] : ((await ring?.all()) ?? []);
  return readCursor(listing, cursor, (position) => {
    const { sealed } = fieldsOf(position);
    if (typeof sealed !== 'string') return parse(position);
    const opened = versions.map(({ key }) => unseal(key, { use, of: sealedFor(listing) }, sealed));
    const text = opened.find((one) => one !== undefined);
    return text === undefined ? undefined : parse(JSON.parse(text));
  });
}

function sealedFor({ project, name }: CursorListing): string[] {
  return [project, name];
}

/**
 * The position of a cursor. It comes back from outside, so any JSON may stand there.
 * @param parse undefined for what cannot be a position of this listing
 * @returns undefined when there is no cursor
 * @throws {Refusal} invalid
 */
export function readCursor<P>(
  listing: CursorListing,
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

function pairIn(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function bindingOf({ project, name }: CursorListing): string {
  return createHash('sha256').update(`${project}\n${name}`).digest('base64url').slice(0, 16);
}
