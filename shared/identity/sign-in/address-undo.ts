import { array, exactOptional, type InferInput, number, object, set, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';

/** So long the address that was left is kept, and may be taken back by a link that is mailed there. */
export const undoMs = 72 * 3_600_000;

const undoSchema = object({
  /** When it was made, ms since the epoch: names it in its link. */
  generation: number(),
  /** The address that was left. */
  email: string(),
  /** The second factor of then: whoever takes the address back shows that one, and has it again. */
  seed: exactOptional(string()),
  recovery: exactOptional(set(string())),
});

/** A change of a person's address that can be undone. */
export type AddressUndo = InferInput<typeof undoSchema>;

const read = stored(
  'changes of address that can be undone',
  object({ undos: array(undoSchema), revision: number() }),
);

/** Those that can be undone still, the oldest first. */
export function addressUndos(item: Item | undefined, nowMs: number): AddressUndo[] {
  return (read(item)?.undos ?? []).filter(({ generation }) => generation + undoMs > nowMs);
}

/** All addresses that are kept for the person of this item. */
export function undoableEmails(item: Item): string[] {
  return read(item).undos.map(({ email }) => email);
}

/** Writes which changes can be undone, when nobody has changed it since it was read. Named `undo` when it fails. */
export function undosAction(
  userId: string,
  seen: Item | undefined,
  undos: readonly AddressUndo[],
  nowMs: number,
): Action {
  const revision = read(seen)?.revision;
  const ttl = Math.ceil((nowMs + undoMs) / 1000);
  return {
    name: 'undo',
    put: { ...keys.addressUndo(userId), undos, revision: (revision ?? 0) + 1, ttl },
    ...(revision === undefined
      ? { if: 'attribute_not_exists(pk)' }
      : { if: 'revision = :seen', values: { ':seen': revision } }),
  };
}
