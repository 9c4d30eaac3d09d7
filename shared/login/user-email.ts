import { inlineResource } from '../store/inline.ts';
import type { Item } from '../table/item.ts';

/** The address of a User, normalised; undefined for one who has none. */
export function emailOf(user: Item | undefined): string | undefined {
  const email = inlineResource('User', user)?.email;
  return typeof email === 'string' ? email : undefined;
}
