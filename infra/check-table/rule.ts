import type { Item } from '../../shared/table/item.ts';
import type { Key } from '../../shared/table/keys.ts';
import type { Finding, Look } from './look.ts';

/**
 * Says what is wrong with an item.
 * @param named what the pattern of its key found in it, by name
 */
export type Rule = (item: Item, named: Named, look: Look) => Promise<Finding[]>;

export type Named = Readonly<Record<string, string>>;

/** A pattern of keys, and what holds of the items that have one. */
export interface KeyRule {
  /** With named groups. */
  pk: RegExp;
  sk: RegExp;
  /** Items without a time to live would stay for ever. */
  expires?: true;
  rules?: readonly Rule[];
}

export function when(isWrong: boolean, text: string): Finding[] {
  return isWrong ? [{ text }] : [];
}

/** The item that another needs is there. */
export async function needs(look: Look, key: Key, what: string): Promise<Finding[]> {
  return when((await look.get(key)) === undefined, `there is no ${what}`);
}
