import { isObject } from '../fields-of.ts';
import { isKey, type Key } from '../table/keys.ts';

/** A message that says where in the table the work is. */
export function keyMessage({ pk, sk }: Key): { body: Key } {
  return { body: { pk, sk } };
}

/** @throws {Error} when the body is no such message */
export function parseKey(body: unknown): Key {
  if (!isObject(body) || !isKey(body)) throw new Error('The message names no key');
  return { pk: body.pk, sk: body.sk };
}
