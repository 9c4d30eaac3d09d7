/** `structuredClone` for the values that Bots have: data, dates, collections, buffers and errors. */

import { DomError } from './events.ts';

/** Throws a DataCloneError for functions, symbols and objects that cannot be copied. Cycles are kept. */
export function guestStructuredClone(value: unknown): unknown {
  return copy(value, new Map());
}

function copy(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new DomError(`${String(value)} could not be cloned`, 'DataCloneError');
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (!seen.has(value)) {
    copyObject(value, seen);
  }
  return seen.get(value);
}

function copyObject(value: object, seen: Map<object, unknown>): void {
  const keep = <T>(made: T): T => {
    seen.set(value, made);
    return made;
  };
  if (value instanceof Date) {
    keep(new Date(value.getTime()));
  } else if (value instanceof RegExp) {
    keep(new RegExp(value.source, value.flags));
  } else if (value instanceof ArrayBuffer) {
    keep(value.slice(0));
  } else if (ArrayBuffer.isView(value)) {
    copyView(value, seen);
  } else if (value instanceof Map) {
    const made = keep(new Map());
    for (const [key, item] of [...value]) {
      made.set(copy(key, seen), copy(item, seen));
    }
  } else if (value instanceof Set) {
    const made = keep(new Set());
    for (const item of [...value]) {
      made.add(copy(item, seen));
    }
  } else if (value instanceof Error) {
    const { message, stack, cause } = value;
    const made = keep(new (errorClass(value))(message));
    Object.defineProperty(made, 'stack', { value: stack, writable: true, configurable: true });
    if (cause !== undefined) {
      made.cause = copy(cause, seen);
    }
  } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    keep(Object(value.valueOf()));
  } else if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
    throw new DomError('The object could not be cloned', 'DataCloneError');
  } else {
    const made = keep((Array.isArray(value) ? new Array(value.length) : {}) as Record<string, unknown>);
    for (const key of Object.keys(value)) {
      const item = copy((value as Record<string, unknown>)[key], seen);
      Object.defineProperty(made, key, { value: item, writable: true, enumerable: true, configurable: true });
    }
  }
}

function copyView(view: ArrayBufferView, seen: Map<object, unknown>): void {
  const buffer = copy(view.buffer, seen) as ArrayBuffer;
  if (view instanceof DataView) {
    seen.set(view, new DataView(buffer, view.byteOffset, view.byteLength));
    return;
  }
  const tag = (view as unknown as Record<symbol, string>)[Symbol.toStringTag] as string;
  const View = (globalThis as unknown as Record<string, Uint8ArrayConstructor>)[tag] as Uint8ArrayConstructor;
  seen.set(view, new View(buffer, view.byteOffset, (view as Uint8Array).length));
}

function errorClass(error: Error): ErrorConstructor {
  const classes = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  return (classes.find((one) => error.name === one.name) ?? Error) as ErrorConstructor;
}
