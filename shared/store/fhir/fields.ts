import { isDeepStrictEqual } from 'node:util';
import { isExactNumber, stringifyJson } from '../../base/json.ts';
import { isObject } from '../../base/values.ts';

/**
 * Elements named by path, such as `birthDate`, `name.family` or `value[x]`: taken out of a resource,
 * or kept as they were. A path goes through lists, and takes the extensions of a primitive (`_birthDate`)
 * with it. Pure: what is given stays as it is.
 */

/** What all of the lists close; of a list of none nothing. */
export function commonFields(lists: readonly (readonly string[])[]): string[] {
  const trees = lists.map(treeOf);
  return [...new Set(lists.flat())].filter((path) => {
    const names = path.split('.');
    return trees.every((tree) => closes(tree, names));
  });
}

/** Paths by their names, so that one is looked for in all at once. */
interface Tree {
  isEnd: boolean;
  members: Map<string, Tree>;
}

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = { isEnd: false, members: new Map() };
  for (const path of paths) {
    let tree = root;
    for (const name of path.split('.')) {
      const next = tree.members.get(name) ?? { isEnd: false, members: new Map() };
      tree.members.set(name, next);
      tree = next;
    }
    tree.isEnd = true;
  }
  return root;
}

/** Whether one of the paths is this one, or holds it: `value[x]` holds `valueQuantity`. */
function closes({ isEnd, members }: Tree, [name, ...rest]: readonly string[]): boolean {
  if (isEnd || name === undefined) return isEnd;
  const choices = [...name].flatMap((letter, i) => (/[A-Z]/.test(letter) ? `${name.slice(0, i)}[x]` : []));
  return [name, ...choices].some((one) => {
    const tree = members.get(one);
    return tree !== undefined && closes(tree, rest);
  });
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

/** @param emptied is told of objects and lists that nothing is left of: they stay, so that others keep their places */
export function withoutFields<T extends object>(
  resource: T,
  paths: readonly string[],
  emptied?: WeakSet<object>,
): T {
  const names = paths.map((path) => path.split('.'));
  return withoutPaths(resource, names, emptied) as T;
}

type Path = readonly string[];

function withoutPaths(value: unknown, paths: readonly Path[], emptied?: WeakSet<object>): unknown {
  return paths.reduce((left, path) => without(left, path, emptied), value);
}

/** What goes along while elements are kept. */
interface Keeping {
  /** As for `withoutFields`, and holds those of what was sent. */
  emptied: WeakSet<object>;
  /** Is told of each list how many entries are compared, before it is done. */
  spend(entries: number): void;
}

/**
 * What was sent, with the named elements as they are stored. An entry of a list keeps those of the
 * stored entry that otherwise equals it, else of the one at its place; a list that lost such an entry
 * stays as it is stored.
 */
export function keepFields<T extends object>(
  sent: T,
  stored: object,
  paths: readonly string[],
  { spend, emptied = new WeakSet() }: Pick<Keeping, 'spend'> & Partial<Keeping>,
): T {
  const names = paths.map((path) => path.split('.'));
  return (names.length > 0 ? keep(sent, stored, names, { spend, emptied }) : sent) as T;
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

function without(
  value: unknown,
  [name = '', ...rest]: readonly string[],
  emptied?: WeakSet<object>,
): unknown {
  if (Array.isArray(value)) {
    return noted(
      value.map((part) => without(part, [name, ...rest], emptied)),
      value,
      emptied,
    );
  }
  if (!isNode(value)) return value;
  const left = Object.entries(value).flatMap(([member, part]) => {
    if (!namesMember(name, member)) return [[member, part]];
    return rest.length === 0 ? [] : [[member, without(part, rest, emptied)]];
  });
  return noted(Object.fromEntries(left), value, emptied);
}

/** What is left of an object or list, which may have been emptied before. */
function noted<T extends object>(left: T, of: object, emptied: WeakSet<object> | undefined): T {
  if (emptied && isEmpty(left) && (!isEmpty(of) || emptied.has(of))) emptied.add(left);
  return left;
}

/** @param paths all at once: what is closed by one must not decide which entry of a list keeps what another closes */
function keep(sent: unknown, stored: unknown, paths: readonly Path[], keeping: Keeping): unknown {
  if (Array.isArray(sent) || Array.isArray(stored))
    return keepInList(listOf(sent), listOf(stored), paths, keeping);
  if (!isNode(sent)) return holds(stored, paths) ? stored : sent;
  const isClosed = (member: string) =>
    paths.some(([name = '', ...rest]) => rest.length === 0 && namesMember(name, member));
  const within = (member: string) =>
    paths.flatMap(([name = '', ...rest]) => (rest.length > 0 && namesMember(name, member) ? [rest] : []));
  const kept = Object.entries(sent).flatMap(([member, part]) => {
    if (isClosed(member)) return [];
    const inner = within(member);
    const old = isNode(stored) ? stored[member] : undefined;
    return [[member, inner.length > 0 ? keep(part, old, inner, keeping) : part]];
  });
  const missing = (isNode(stored) ? Object.entries(stored) : []).filter(
    ([member, part]) => isClosed(member) || (!Object.hasOwn(sent, member) && holds(part, within(member))),
  );
  return noted(Object.fromEntries([...kept, ...missing]), sent, keeping.emptied);
}

function keepInList(sent: unknown[], stored: unknown[], paths: readonly Path[], keeping: Keeping): unknown[] {
  keeping.spend((sent.length + stored.length) * paths.length);
  const free = new Set(stored.keys());
  const take = (at: number | undefined) => (at !== undefined && free.delete(at) ? at : undefined);
  // By their text: comparing each with each would take the square of what a caller sends.
  const places = Map.groupBy([...stored.keys()].reverse(), (at) => textWithout(stored[at], paths));
  const equal = sent.map((entry) => take(places.get(textWithout(entry, paths))?.pop()));
  const found = equal.map((at, i) => at ?? take(i));
  if ([...free].some((at) => holds(stored[at], paths))) return stored;
  const kept = sent.map((entry, i) => {
    const at = found[i];
    return at === undefined
      ? withoutPaths(entry, paths, keeping.emptied)
      : keep(entry, stored[at], paths, keeping);
  });
  return noted(kept, sent, keeping.emptied);
}

/** Equal for entries that differ in what the paths close only, whatever the order of their members. */
function textWithout(entry: unknown, paths: readonly Path[]): string {
  return stringifyJson(sorted(withoutPaths(entry, paths))) ?? '';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isNode(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

function holds(value: unknown, paths: readonly Path[]): boolean {
  return paths.some((path) => !isDeepStrictEqual(without(value, path), value));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

/**
 * What holds nothing: R4 (json#null) has neither empty objects nor empty lists, an element without a value is left out.
 * Of a list of primitives and that of their extensions (`_given`) nulls keep the places; nulls alone are nothing.
 */
export function isEmpty(value: object): boolean {
  return Array.isArray(value) ? value.every((part) => part === null) : Object.keys(value).length === 0;
}

/** Whether some string in a value is empty. */
export function hasEmptyString(value: unknown): boolean {
  if (!isNode(value)) return value === '';
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
