import type { Item } from './item.ts';

/** A value of DynamoDB as a stream record has it; bytes are base64 there. */
type Attribute = Partial<{
  S: string;
  N: string;
  B: string;
  BOOL: boolean;
  NULL: boolean;
  M: Record<string, Attribute>;
  L: Attribute[];
}>;

/** The item of a stream record's image; undefined when the record has none. */
export function itemOf(image: Record<string, unknown> | undefined): Item | undefined {
  if (!image) return undefined;
  return plainMap(image as Record<string, Attribute>) as Item;
}

function plainMap(attributes: Record<string, Attribute>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, plain(value)]));
}

function plain(value: Attribute): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.B !== undefined) return Buffer.from(value.B, 'base64');
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.M !== undefined) return plainMap(value.M);
  return value.L?.map(plain);
}
