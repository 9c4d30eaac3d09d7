/**
 * Elements named by path, such as `birthDate`, `name.family` or `value[x]`: taken out of a resource,
 * or kept as they were. A path goes through lists, and takes the extensions of a primitive (`_birthDate`)
 * with it. Pure: what is given stays as it is.
 */

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../fields-of.ts';
import { isExactNumber, stringifyJson } from './json.ts';

/** Whether one of the paths is this one, or holds it. */
export function covers(paths: readonly string[], path: string): boolean {
  return paths.some((one) => isWithin(path.split('.'), one.split('.')));
}

/** What all of the lists close; of a list of none nothing. */
export function commonFields(lists: readonly (readonly string[])[]): string[] {
  const all = new Set(lists.flat());
  return [...all].filter((path) => lists.every((paths) => covers(paths, path)));
}

/** Whether two places touch: either holds the other. `steps` are names as they stand in JSON. */
export function touches(path: string, steps: readonly string[]): boolean {
  const names = path.split('.');
  const length = Math.min(names.length, steps.length);
  return names.slice(0, length).every((name, i) => namesMember(name, steps[i] ?? ''));
}

/** Whether the place is in what the path closes. `steps` are names as they stand in JSON. */
export function isClosed(path: string, steps: readonly string[]): boolean {
  return path.split('.').length <= steps.length && touches(path, steps);
}

export function withoutFields<T extends object>(resource: T, paths: readonly string[]): T {
  return paths.reduce<unknown>((value, path) => without(value, path.split('.')), resource) as T;
}

/**
 * What was sent, with the named elements as they are stored. An entry of a list keeps those of the
 * stored entry that otherwise equals it, else of the one at its place; a list that lost such an entry
 * stays as it is stored.
 */
export function keepFields<T extends object>(sent: T, stored: object, paths: readonly string[]): T {
  return paths.reduce<unknown>((value, path) => keep(value, stored, path.split('.')), sent) as T;
}

function isWithin(names: readonly string[], holder: readonly string[]): boolean {
  return holder.length <= names.length && holder.every((name, i) => name === names[i]);
}

/** `_name` holds the extensions of `name`; `value[x]` is any of valueString, valueQuantity, … */
function namesMember(name: string, member: string): boolean {
  const plain = member.startsWith('_') ? member.slice(1) : member;
  if (!name.endsWith('[x]')) return plain === name;
  const stem = name.slice(0, -3);
  return plain.startsWith(stem) && /^[A-Z]/.test(plain.slice(stem.length));
}

/** Exact decimals are objects of their own kind: leaves. */
function isNode(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isExactNumber(value);
}

function without(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((part) => without(part, [name, ...rest]));
  if (!isNode(value)) return value;
  const left = Object.entries(value).flatMap(([member, part]) => {
    if (!namesMember(name, member)) return [[member, part]];
    return rest.length === 0 ? [] : [[member, without(part, rest)]];
  });
  return Object.fromEntries(left);
}

function keep(sent: unknown, stored: unknown, path: readonly string[]): unknown {
  if (Array.isArray(sent) || Array.isArray(stored)) return keepInList(listOf(sent), listOf(stored), path);
  if (!isNode(sent)) return holds(stored, path) ? stored : sent;
  const [name = '', ...rest] = path;
  const old = isNode(stored) ? Object.entries(stored).filter(([member]) => namesMember(name, member)) : [];
  const kept = Object.entries(sent).flatMap(([member, part]) => {
    if (!namesMember(name, member)) return [[member, part]];
    return rest.length === 0 ? [] : [[member, keep(part, isNode(stored) ? stored[member] : undefined, rest)]];
  });
  const missing = old.filter(
    ([member, part]) => rest.length === 0 || (!Object.hasOwn(sent, member) && holds(part, rest)),
  );
  return Object.fromEntries([...kept, ...missing]);
}

function keepInList(sent: unknown[], stored: unknown[], path: readonly string[]): unknown[] {
  const free = new Set(stored.keys());
  const take = (at: number | undefined) => {
    if (at === undefined || !free.delete(at)) return undefined;
    return at;
  };
  // By their text: comparing each with each would take the square of what a caller sends.
  const places = new Map<string, number[]>();
  for (const [at, entry] of stored.entries()) {
    const text = textWithout(entry, path);
    const same = places.get(text);
    if (same) same.push(at);
    else places.set(text, [at]);
  }
  const equal = sent.map((entry) => take(places.get(textWithout(entry, path))?.shift()));
  const found = equal.map((at, i) => at ?? take(i));
  if ([...free].some((at) => holds(stored[at], path))) return stored;
  return sent.map((entry, i) => {
    const at = found[i];
    return at === undefined ? without(entry, path) : keep(entry, stored[at], path);
  });
}

/** Equal for entries that differ in what the path closes only, whatever the order of their members. */
function textWithout(entry: unknown, path: readonly string[]): string {
  return stringifyJson(sorted(without(entry, path))) ?? '';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isNode(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

function holds(value: unknown, path: readonly string[]): boolean {
  return !isDeepStrictEqual(without(value, path), value);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
