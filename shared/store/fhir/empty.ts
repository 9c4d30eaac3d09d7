/**
 * What holds nothing: R4 (json#null) has neither empty objects nor empty lists, an element without a value is left out.
 * Of a list of primitives and that of their extensions (`_given`) nulls keep the places; nulls alone are nothing.
 */

import { isExactNumber } from '../../base/json.ts';
import { isObject } from '../../base/values.ts';

export function isEmpty(value: object): boolean {
  return Array.isArray(value) ? value.every((part) => part === null) : Object.keys(value).length === 0;
}

/** Whether some string in a value is empty. */
export function hasEmptyString(value: unknown): boolean {
  if (!isObject(value) || isExactNumber(value)) return value === '';
  return Object.values(value).some(hasEmptyString);
}

/**
 * A value without what is empty in it; the very same where nothing is. What that leaves empty goes too.
 * @param mayGo which of the empty objects and lists go; all of them when left out
 */
export function withoutEmpty<T extends object>(value: T, mayGo: (empty: object) => boolean = () => true): T {
  return (filled(value, mayGo, false) ?? {}) as T;
}

/** @param keepsPlaces in a list of extensions of primitives. @returns undefined when nothing is left */
function filled(value: unknown, mayGo: (empty: object) => boolean, keepsPlaces: boolean): unknown {
  if (!isObject(value) || isExactNumber(value)) return value;
  const before = Object.entries(value);
  const after = before.map(([name, part]): [string, unknown] => [
    name,
    filled(part, mayGo, Array.isArray(value) ? keepsPlaces : name.startsWith('_')),
  ]);
  const isSame = after.every(([, part], i) => part === before[i]?.[1]);
  if (isSame) return isEmpty(value) && mayGo(value) ? undefined : value;
  const left = Array.isArray(value)
    ? after.flatMap(([, part]) => (part === undefined ? (keepsPlaces ? [null] : []) : [part]))
    : Object.fromEntries(after.filter(([, part]) => part !== undefined));
  return isEmpty(left) ? undefined : left;
}
