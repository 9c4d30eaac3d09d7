import { fieldsOf, isObject } from '../fields-of.ts';
import type { Item } from './item.ts';
import { isKey } from './keys.ts';

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
