import { object, string } from 'valibot';
import { stored } from '../schema/stored.ts';
import type { Item } from './item.ts';

const read = stored('name of a User', object({ userId: string() }));

/** The User that a unique name leads to: an address, or a subject of an issuer. */
export function ownerOf(item: Item | undefined): string | undefined {
  return read(item)?.userId;
}
