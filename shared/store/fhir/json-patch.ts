import { isDeepStrictEqual } from 'node:util';
import { isExactNumber, stringifyJson, valuesIn } from '../../base/json.ts';
import { deepestJson, longestBodyBytes, mostJsonValues } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { fieldsOf, isObject } from '../../base/values.ts';

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

const mostOperations = 1000;
/** Characters that are copied cost as much as a value: they are written out, checked and packed. */
const charactersPerValue = 5;

/** @throws {Refusal} invalid when it is not a list of operations */
export function parsePatch(body: unknown): PatchOperation[] {
  const isOperation = (one: unknown) => {
    const { op, path, from } = fieldsOf(one);
    if (typeof op !== 'string' || typeof path !== 'string') return false;
    return !hasSource(op) || typeof from === 'string';
  };
  if (!Array.isArray(body) || !body.every(isOperation))
    throw invalid('The body must be a JSON Patch (RFC 6902)');
  if (body.length > mostOperations) throw invalid(`A patch holds at most ${mostOperations} operations`);
  // RFC 6902 section 4: members that an operation does not define are ignored.
  return body.map((one: PatchOperation) => {
    const { from: _, ...own } = one;
    return hasSource(one.op) ? one : own;
  });
}

function hasSource(op: string): boolean {
  return op === 'move' || op === 'copy';
}

/**
 * The value with all operations applied; the value given stays as it is.
 * @param spend as of `beginPatch`
 * @throws {Refusal} invalid when a path leads nowhere, precondition-failed when a `test` does not hold
 */
export function applyPatch<T>(
  value: T,
  operations: readonly PatchOperation[],
  spend: (values: number) => void,
): T {
  const patching = beginPatch(value, spend);
  for (const operation of operations) patching.apply(operation);
  return patching.value as T;
}

/**
 * A patch whose operations depend on what those before made; the value given stays as it is.
 * @param spend is told how many values are looked at, before an operation does more with them
 */
export function beginPatch(
  value: unknown,
  spend: (values: number) => void,
): {
  readonly value: unknown;
  apply(operation: PatchOperation): void;
  /** Objects and lists that lost a member: where they are empty in the end, nobody has sent them so. */
  readonly emptied: WeakSet<object>;
} {
  // A holder, so that the whole value can be replaced like any other.
  const holder: Holder = { value: copy(value), copied: 0, copiedValues: 0, emptied: new WeakSet(), spend };
  return {
    get value() {
      return holder.value;
    },
    apply: (operation) => apply(holder, operation),
    emptied: holder.emptied,
  };
}

interface Holder {
  value: unknown;
  /** Characters that `copy` operations have added. */
  copied: number;
  /** Values that they have added. */
  copiedValues: number;
  emptied: WeakSet<object>;
  spend(values: number): void;
}

function apply(holder: Holder, { op, path, from = '', value }: PatchOperation): void {
  holder.spend(1);
  if (op === 'add') add(holder, path, copy(value));
  else if (op === 'remove') take(holder, path);
  else if (op === 'replace') replace(holder, path, copy(value));
  else if (op === 'move') {
    if (path.startsWith(`${from}/`)) throw invalid('A value cannot be moved into itself');
    add(holder, path, take(holder, from));
  } else if (op === 'copy') add(holder, path, duplicate(holder, from));
  else if (op === 'test') requireEqual(read(holder, path), value, path);
  else throw invalid(`Unknown operation ${op}`);
}

function requireEqual(found: unknown, wanted: unknown, path: string): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Refusal('precondition-failed', `The test of ${path} does not hold`);
}

function read(holder: object, path: string): unknown {
  const { parent, name } = locate(holder, path);
  if (!Object.hasOwn(parent, name)) throw invalid(`There is nothing at ${path}`);
  return parent[name];
}

function duplicate(holder: Holder, from: string): unknown {
  const value = read(holder, from);
  const text = stringifyJson(value);
  holder.spend(text.length / charactersPerValue);
  holder.copied += text.length;
  holder.copiedValues += valuesIn(text);
  if (holder.copied > longestBodyBytes) throw new Refusal('too-large', 'The patch copies more than 4 MiB');
  if (holder.copiedValues > mostJsonValues)
    throw new Refusal('too-costly', `The patch copies more than ${mostJsonValues} values`);
  return copy(value);
}

function replace(holder: Holder, path: string, value: unknown): void {
  requireShallow(holder, path, value);
  read(holder, path);
  const { parent, name } = locate(holder, path);
  Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
}

function take(holder: Holder, path: string): unknown {
  const value = read(holder, path);
  const { parent, name } = locate(holder, path);
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
  // Whether it is empty is asked in the end, of the few that are: to count the members of many takes long.
  holder.emptied.add(parent);
  return value;
}

function add(holder: Holder, path: string, value: unknown): void {
  requireShallow(holder, path, value);
  const { parent, name } = locate(holder, path);
  if (!Array.isArray(parent)) {
    Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const at = name === '-' ? parent.length : isIndex(name) ? Number(name) : -1;
  if (at < 0 || at > parent.length) throw invalid(`There is no place ${path}`);
  parent.splice(at, 0, value);
}

/** Before what is too deep is copied or written out once more. @throws {Refusal} invalid */
function requireShallow({ spend }: Holder, path: string, value: unknown): void {
  let values = 0;
  const depthOf = (part: unknown): number => {
    values += 1;
    if (!isObject(part) || isExactNumber(part)) return 0;
    return 1 + Object.values(part).reduce<number>((deepest, one) => Math.max(deepest, depthOf(one)), 0);
  };
  const depth = path.split('/').length + depthOf(value);
  spend(values);
  if (depth > deepestJson) throw invalid(`The patch makes a value deeper than ${deepestJson} levels`);
}

/** The object or array that holds what a pointer (RFC 6901) points at, and its name in there. */
function locate(holder: object, path: string): { parent: Record<string, unknown>; name: string } {
  if (path !== '' && !path.startsWith('/')) throw invalid(`${path} is not a JSON Pointer`);
  const names = ['value', ...pointerNames(path)];
  const name = names.pop() ?? '';
  let parent: unknown = holder;
  for (const step of names) {
    if (!isObject(parent) || !Object.hasOwn(parent, step) || (Array.isArray(parent) && !isIndex(step)))
      throw invalid(`There is nothing at ${path}`);
    parent = parent[step];
  }
  if (!isObject(parent)) throw invalid(`There is nothing at ${path}`);
  if (Array.isArray(parent) && name !== '-' && !isIndex(name)) throw invalid(`There is no place ${path}`);
  return { parent, name };
}

/** The names of a pointer (RFC 6901). */
export function pointerNames(path: string): string[] {
  return path.split('/').slice(1).map(plainName);
}

function plainName(text: string): string {
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isIndex(name: string): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(name);
}

/** Numbers that keep their digits are immutable objects: they are shared, not copied. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isObject(value) || isExactNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)]));
}

function invalid(text: string): Refusal {
  return new Refusal('invalid', text);
}
