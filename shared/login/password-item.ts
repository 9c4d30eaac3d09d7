import { object, string } from 'valibot';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';

const read = stored('password', object({ hash: string() }));

/** The hash of a person's password; undefined for one who has none. */
export function passwordHashOf(item: Item | undefined): string | undefined {
  return read(item)?.hash;
}
