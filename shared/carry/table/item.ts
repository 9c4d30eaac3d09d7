import { exactOptional, number, object, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import { isKey, type Key } from './keys.ts';

/** A row of the table: its key and whatever else it holds. */
export type Item = Key & Record<string, unknown>;

const read = stored('name of a User', object({ userId: string() }));

/** The User that a unique name leads to: an address, or a subject of an issuer. */
export function ownerOf(item: Item | undefined): string | undefined {
  return read(item)?.userId;
}

/** When an address was given up it is kept for who had it, above Projects and in each: they may take it back. */
const readKept = stored('address that is kept', object({ keptUntilMs: exactOptional(number()) }));

/** Whether it was given up, and nobody else gets it yet. */
export function isKept(item: Item | undefined, nowMs: number): boolean {
  return (readKept(item)?.keptUntilMs ?? 0) > nowMs;
}

/** Whose address it is: who signs in with it. */
export function ownerOfAddress(item: Item | undefined): string | undefined {
  return readKept(item)?.keptUntilMs === undefined ? ownerOf(item) : undefined;
}

/** The same, and for whom it is kept: an invite of that address is an invite of them. */
export function holderOfAddress(item: Item | undefined, nowMs: number): string | undefined {
  return ownerOfAddress(item) ?? (isKept(item, nowMs) ? ownerOf(item) : undefined);
}

/** The condition of a write that takes a name: nobody has it, nor is it kept for anybody any more. */
export function freeName(nowMs: number): { if: string; values: Record<string, unknown> } {
  return { if: 'attribute_not_exists(pk) OR keptUntilMs <= :now', values: { ':now': nowMs } };
}

/** The item of a stream record's image; undefined when the record has none. */
export function itemOf(image: Record<string, unknown> | undefined): Item | undefined {
  if (!image) return undefined;
  const item = plainMap(image);
  if (!isKey(item)) throw new Error('A record of the stream has no key');
  return item;
}

function plainMap(attributes: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, plain(value)]));
}

/** A value of DynamoDB as a stream record has it; bytes are base64 there. */
function plain(value: unknown): unknown {
  const { S, N, B, BOOL, M, L } = fieldsOf(value);
  if (S !== undefined) return S;
  if (N !== undefined) return Number(N);
  if (typeof B === 'string') return Buffer.from(B, 'base64');
  if (BOOL !== undefined) return BOOL;
  if (isObject(M)) return plainMap(M);
  return Array.isArray(L) ? L.map(plain) : undefined;
}
