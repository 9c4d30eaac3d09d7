import type { Key } from './keys.ts';

/** A row of the table: its key and whatever else it holds. */
export type Item = Key & Record<string, unknown>;
