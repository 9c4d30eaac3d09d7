/**
 * `console`: each call is one entry of the run's log. The host masks, escapes, bounds and keeps it. Values are shown
 * bounded in depth, in entries and in length; no getter of the Bot runs; a Proxy is shown as a mark.
 */

import {
  call,
  dateToJson,
  ErrorClass,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  mapForEach,
  now,
  ownKeys,
  regExpToString,
  setForEach,
  slice,
  split,
  stringifyJson,
  text,
} from './primordials.ts';

const DEPTH = 4;
const ENTRIES = 100;
const LENGTH = 16_384;
/** Longer strings and lines are cut here already; the host cuts much shorter, so that no half of a secret is left. */
const LINE = 65_536;

interface Budget {
  left: number;
  seen: object[];
}

/** Shows objects of a class of ours; set by the part that has the class. */
let ownNotation: (value: object) => string | undefined = () => undefined;

/** `shown`: an HL7 message as it was sent, undefined for what is none. */
export function printAs(shown: typeof ownNotation): void {
  ownNotation = shown;
}

/** A string as it is, everything else in a JavaScript-like notation. */
function show(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value);
}

/** JavaScript-like notation, strings quoted. Never throws. */
export function inspect(value: unknown): string {
  return guarded(value, { left: LENGTH, seen: [] });
}

function guarded(value: unknown, budget: Budget): string {
  try {
    const shown = notation(value, budget);
    budget.left -= shown.length;
    return shown;
  } catch {
    return '[unreadable]';
  }
}

function notation(value: unknown, budget: Budget): string {
  switch (typeof value) {
    case 'string':
      return stringifyJson(value.length > LINE ? `${slice(value, 0, LINE)}…` : value);
    case 'bigint':
      return `${text(value)}n`;
    case 'function':
      return `[Function ${nameOf(value)}]`;
    case 'object':
      return value === null ? 'null' : objectNotation(value, budget);
    default:
      return text(value);
  }
}

function objectNotation(value: object, budget: Budget): string {
  for (let index = 0; index < budget.seen.length; index++) {
    if (budget.seen[index] === value) return '[Circular]';
  }
  if (value instanceof ErrorClass) {
    const stack = getOwnPropertyDescriptor(value, 'stack')?.value;
    return typeof stack === 'string' ? slice(stack, 0, LINE) : `${text(value.name)}: ${text(value.message)}`;
  }
  if (value instanceof Date) return dateToJson(value);
  if (value instanceof RegExp) return regExpToString(value);
  const message = ownNotation(value);
  if (message !== undefined) return linesOf(message);
  if (budget.seen.length >= DEPTH || budget.left <= 0) return isArray(value) ? '[Array]' : '[Object]';
  budget.seen[budget.seen.length] = value;
  const shown = collectionNotation(value, budget);
  budget.seen.length -= 1;
  return shown;
}

/** A segment a line. */
function linesOf(message: string): string {
  const segments = split(slice(message, 0, LINE), '\r');
  let shown = '';
  for (let index = 0; index < segments.length; index++) {
    shown += (index === 0 ? '' : '\n') + segments[index];
  }
  return shown;
}

function collectionNotation(value: object, budget: Budget): string {
  let shown = '';
  let count = 0;
  /** At most `ENTRIES`, and no more than the budget allows. */
  const add = (entry: () => string) => {
    count += 1;
    if (count <= ENTRIES && budget.left > 0) shown += `${count === 1 ? '' : ', '}${entry()}`;
    else if (count === ENTRIES + 1) shown += ', …';
  };
  const between = (open: string, close: string) =>
    count === 0 ? `${open}${close}` : `${open} ${shown} ${close}`;

  if (value instanceof Map) {
    mapForEach(value, (item, key) => add(() => `${guarded(key, budget)} => ${guarded(item, budget)}`));
    return between('Map {', '}');
  }
  if (value instanceof Set) {
    setForEach(value, (item) => add(() => guarded(item, budget)));
    return between('Set {', '}');
  }
  const prototype = getPrototypeOf(value) as object | null;
  const name = nameOf(prototype && getOwnPropertyDescriptor(prototype, 'constructor')?.value);
  if (isArray(value) || ArrayBuffer.isView(value)) {
    const items = value as ArrayLike<unknown>;
    for (let index = 0; index < items.length && index <= ENTRIES; index++) {
      add(() => property(items, text(index), budget));
    }
    return between(isArray(value) ? '[' : `${name} [`, ']');
  }
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length && index <= ENTRIES; index++) {
    const key = keys[index] as string | symbol;
    if (getOwnPropertyDescriptor(value, key)?.enumerable) {
      add(() => `${text(key)}: ${property(value, key, budget)}`);
    }
  }
  return between(name === 'Object' || name === '' ? '{' : `${name} {`, '}');
}

function property(value: object, key: string | symbol, budget: Budget): string {
  const field = getOwnPropertyDescriptor(value, key);
  if (field === undefined) return 'undefined';
  return field.get || field.set ? '[Getter]' : guarded(field.value, budget);
}

function nameOf(value: unknown): string {
  const name = typeof value === 'function' ? getOwnPropertyDescriptor(value, 'name')?.value : undefined;
  return typeof name === 'string' ? slice(name, 0, 100) : '';
}

/** What follows the first of `console.log` and of Node's `util.format`. */
export function format(parts: unknown[]): string {
  const [first, ...rest] = parts;
  let line = parts.length === 0 ? '' : show(first);
  if (typeof first === 'string' && rest.length > 0) {
    line = first.replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === '%%') return '%';
      return rest.length === 0 ? mark : fill(mark, rest.shift());
    });
  }
  for (const part of rest) {
    if (line.length > LINE) break;
    line += ` ${show(part)}`;
  }
  return line;
}

function fill(mark: string, value: unknown): string {
  if (mark === '%d' || mark === '%f') return text(Number(value));
  if (mark === '%i') return text(Math.trunc(Number(value)));
  if (mark === '%c') return '';
  if (mark === '%s') return show(value);
  try {
    return mark === '%j' ? text(stringifyJson(value)) : inspect(value);
  } catch {
    return inspect(value);
  }
}

/** The host has said that the log is full: from then on it is not asked. */
let full = false;
let indent = '';
const counts = new Map<string, number>();
const timers = new Map<string, number>();

function write(level: 'debug' | 'info' | 'warn' | 'error', parts: unknown[]): void {
  if (!full) full = call('log', level, slice(indent + format(parts), 0, LINE)) === 'full';
}

const label = (name: unknown) => (name === undefined ? 'default' : show(name));

export const guestConsole = {
  debug: (...parts: unknown[]) => write('debug', parts),
  log: (...parts: unknown[]) => write('info', parts),
  info: (...parts: unknown[]) => write('info', parts),
  warn: (...parts: unknown[]) => write('warn', parts),
  error: (...parts: unknown[]) => write('error', parts),
  trace: (...parts: unknown[]) => write('debug', parts),
  dir: (value: unknown) => write('info', [inspect(value)]),
  table: (value: unknown) => write('info', [inspect(value)]),
  assert: (condition: unknown, ...parts: unknown[]) => {
    if (!condition) write('error', ['Assertion failed', ...parts]);
  },
  group: (...parts: unknown[]) => {
    write('info', parts);
    indent = slice(`${indent}  `, 0, 40);
  },
  groupEnd: () => {
    indent = slice(indent, 2);
  },
  count: (name?: unknown) => {
    const count = (counts.get(label(name)) ?? 0) + 1;
    counts.set(label(name), count);
    write('info', [`${label(name)}: ${count}`]);
  },
  time: (name?: unknown) => {
    timers.set(label(name), now());
  },
  timeEnd: (name?: unknown) => {
    write('info', [`${label(name)}: ${now() - (timers.get(label(name)) ?? now())} ms`]);
  },
};
