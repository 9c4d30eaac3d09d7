import { fieldsOf } from '../fields-of.ts';
import type { Key } from '../table/keys.ts';

/** A message that says where in the table the work is. */
export function keyMessage({ pk, sk }: Key): { body: Key } {
  return { body: { pk, sk } };
}

/** @throws {Error} when the body is no such message */
export function parseKey(body: unknown): Key {
  const { pk, sk } = fieldsOf(body);
  if (typeof pk !== 'string' || typeof sk !== 'string') throw new Error('The message names no key');
  return { pk, sk };
}
