/** `Event`, `EventTarget`, `AbortController` and `AbortSignal`, as far as `fetch` needs them, and `structuredClone`. */

import { DOMException } from '../scope.ts';
import { timerGlobals } from '../timers.ts';

export class Event {
  readonly type: string;
  target: EventTarget | undefined;

  constructor(type: string) {
    this.type = `${type}`;
  }
}

type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };

export class EventTarget {
  #listeners: { type: string; listener: Listener; once: boolean }[] = [];

  addEventListener(type: string, listener: Listener, options?: boolean | { once?: boolean }): void {
    const once = typeof options === 'object' && Boolean(options?.once);
    if (!this.#listeners.some((known) => known.type === type && known.listener === listener)) {
      this.#listeners.push({ type, listener, once });
    }
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners = this.#listeners.filter((known) => known.type !== type || known.listener !== listener);
  }

  dispatchEvent(event: Event): boolean {
    event.target = this;
    for (const { type, listener, once } of this.#listeners.filter((known) => known.type === event.type)) {
      if (once) this.removeEventListener(type, listener);
      if (typeof listener === 'function') listener.call(this, event);
      else listener.handleEvent(event);
    }
    return true;
  }
}

export class AbortSignal extends EventTarget {
  aborted = false;
  reason: unknown;
  onabort: ((event: Event) => void) | null = null;

  static abort(reason?: unknown): AbortSignal {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    const timedOut = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    timerGlobals.setTimeout(() => controller.abort(timedOut), ms);
    return controller.signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const controller = new AbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
    }
    return controller.signal;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
}

export class AbortController {
  readonly signal = new AbortSignal();

  abort(reason?: unknown): void {
    const { signal } = this;
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
    const event = new Event('abort');
    signal.onabort?.(event);
    signal.dispatchEvent(event);
  }
}

/** For the values that Bots have; a DataCloneError for functions, symbols and what cannot be copied. Cycles are kept. */
export function structuredClone(value: unknown): unknown {
  return copy(value, new Map());
}

function copy(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new DOMException(`${String(value)} could not be cloned`, 'DataCloneError');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (!seen.has(value)) copyObject(value, seen);
  return seen.get(value);
}

/** An object is known before what it holds is copied. */
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
    const { byteOffset, byteLength, length } = value as Uint8Array;
    const buffer = copy(value.buffer, seen) as ArrayBuffer;
    const tag = (value as Uint8Array)[Symbol.toStringTag];
    const View = (globalThis as unknown as Record<string, Uint8ArrayConstructor>)[
      tag
    ] as Uint8ArrayConstructor;
    keep(new View(buffer, byteOffset, value instanceof DataView ? byteLength : length));
  } else if (value instanceof Map) {
    const made = keep(new Map());
    for (const [key, item] of [...value]) made.set(copy(key, seen), copy(item, seen));
  } else if (value instanceof Set) {
    const made = keep(new Set());
    for (const item of [...value]) made.add(copy(item, seen));
  } else if (value instanceof Error) {
    const classes = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
    const { name, message, stack, cause } = value;
    const made = keep(new (classes.find((one) => one.name === name) ?? Error)(message));
    Object.defineProperty(made, 'stack', { value: stack, writable: true, configurable: true });
    if (cause !== undefined) made.cause = copy(cause, seen);
  } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    keep(Object(value.valueOf()));
  } else if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
    throw new DOMException('The object could not be cloned', 'DataCloneError');
  } else {
    const made = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const [key, item] of Object.entries(value)) {
      const property = { value: copy(item, seen), writable: true, enumerable: true, configurable: true };
      Object.defineProperty(made, key, property);
    }
  }
}
