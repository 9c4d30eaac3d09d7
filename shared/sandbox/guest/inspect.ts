/**
 * Values as text for the console and for thrown things that are no errors. Bounded in depth, in
 * entries and in length; runs no getter of the Bot; a Proxy is shown as a mark.
 */

import { Hl7Message } from '../../hl7/message.ts';
import {
  dateToJson,
  ErrorClass,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  mapForEach,
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
/** No shorter than a line of the console: a cut in the middle of one could leave half of a secret. */
const STRING = 65_536;

/** Taken before the Bot can put another in its place. */
const messageText = Function.prototype.call.bind(Hl7Message.prototype.toString) as (
  message: Hl7Message,
) => string;

interface Budget {
  left: number;
  seen: object[];
}

/** A string as it is, everything else in a JavaScript-like notation. */
export function show(value: unknown): string {
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
      return stringifyJson(value.length > STRING ? `${slice(value, 0, STRING)}…` : value);
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
    if (budget.seen[index] === value) {
      return '[Circular]';
    }
  }
  if (value instanceof ErrorClass) {
    return errorNotation(value);
  }
  if (value instanceof Date) {
    return dateToJson(value);
  }
  if (value instanceof RegExp) {
    return regExpToString(value);
  }
  if (value instanceof Hl7Message) {
    return messageNotation(value);
  }
  if (budget.seen.length >= DEPTH || budget.left <= 0) {
    return isArray(value) ? '[Array]' : '[Object]';
  }
  budget.seen[budget.seen.length] = value;
  const shown = collectionNotation(value, budget);
  budget.seen.length -= 1;
  return shown;
}

/** A message as it was sent, a segment a line. */
function messageNotation(message: Hl7Message): string {
  const segments = split(slice(messageText(message), 0, STRING), '\r');
  let shown = '';
  for (let index = 0; index < segments.length; index++) {
    shown += (index === 0 ? '' : '\n') + segments[index];
  }
  return shown;
}

function collectionNotation(value: object, budget: Budget): string {
  const list = new Listing(budget);
  if (value instanceof Map) {
    mapForEach(value, (item, key) => list.add(() => `${guarded(key, budget)} => ${guarded(item, budget)}`));
    return list.between('Map {', '}');
  }
  if (value instanceof Set) {
    setForEach(value, (item) => list.add(() => guarded(item, budget)));
    return list.between('Set {', '}');
  }
  const array = isArray(value);
  if (array || ArrayBuffer.isView(value)) {
    const items = value as ArrayLike<unknown>;
    for (let index = 0; index < items.length && index <= ENTRIES; index++) {
      list.add(() => property(items, text(index), budget));
    }
    return list.between(array ? '[' : `${nameOf(constructorOf(value))} [`, ']');
  }
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length && index <= ENTRIES; index++) {
    const key = keys[index] as string | symbol;
    const field = getOwnPropertyDescriptor(value, key);
    if (field?.enumerable) {
      list.add(() => `${text(key)}: ${property(value, key, budget)}`);
    }
  }
  const name = nameOf(constructorOf(value));
  return list.between(name === 'Object' || name === '' ? '{' : `${name} {`, '}');
}

function property(value: object, key: string | symbol, budget: Budget): string {
  const field = getOwnPropertyDescriptor(value, key);
  if (field === undefined) {
    return 'undefined';
  }
  return field.get || field.set ? '[Getter]' : guarded(field.value, budget);
}

function errorNotation(error: Error): string {
  const stack = getOwnPropertyDescriptor(error, 'stack')?.value;
  return typeof stack === 'string' ? slice(stack, 0, STRING) : `${text(error.name)}: ${text(error.message)}`;
}

function constructorOf(value: object): unknown {
  const prototype = getPrototypeOf(value) as object | null;
  return prototype === null ? undefined : getOwnPropertyDescriptor(prototype, 'constructor')?.value;
}

function nameOf(value: unknown): string {
  const name = typeof value === 'function' ? getOwnPropertyDescriptor(value, 'name')?.value : undefined;
  return typeof name === 'string' ? slice(name, 0, 100) : '';
}

/** Entries joined by commas, at most `ENTRIES` of them and no more than the budget allows. */
class Listing {
  private readonly budget: Budget;
  private shown = '';
  private count = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  add(entry: () => string): void {
    this.count += 1;
    if (this.count > ENTRIES || this.budget.left <= 0) {
      this.shown += this.count === ENTRIES + 1 ? ', …' : '';
      return;
    }
    this.shown += `${this.count === 1 ? '' : ', '}${entry()}`;
  }

  between(open: string, close: string): string {
    return this.count === 0 ? `${open}${close}` : `${open} ${this.shown} ${close}`;
  }
}
