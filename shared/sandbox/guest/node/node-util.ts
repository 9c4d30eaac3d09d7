/** Node's `util`, as far as it is about values. */

import { internals } from './internals.ts';

export const { TextDecoder, TextEncoder } = globalThis;

type Callback = (error: unknown, value?: unknown) => void;
type Func = (...parts: unknown[]) => unknown;

const custom = Symbol.for('nodejs.util.promisify.custom');

export const promisify = Object.assign(
  (original: Func & { [custom]?: Func }): Func => {
    if (typeof original !== 'function') throw invalid('original', 'function');
    return (
      original[custom] ??
      function (this: unknown, ...parts: unknown[]) {
        return new Promise((resolve, reject) => {
          const done: Callback = (error, value) => (error ? reject(error) : resolve(value));
          Reflect.apply(original, this, [...parts, done]);
        });
      }
    );
  },
  { custom },
);

export function callbackify(original: (...parts: unknown[]) => Promise<unknown>): Func {
  if (typeof original !== 'function') throw invalid('original', 'function');
  return function (this: unknown, ...parts: unknown[]) {
    const done = parts.pop() as Callback;
    Reflect.apply(original, this, parts).then(
      (value: unknown) => setTimeout(() => done(null, value)),
      (error: unknown) =>
        setTimeout(() => done(error ?? new Error('Promise was rejected with a falsy value'))),
    );
  };
}

export function inherits(child: Func & { super_?: unknown }, parent: Func): void {
  Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

export const inspect = Object.assign((value: unknown) => internals.inspect(value), {
  custom: Symbol.for('nodejs.util.inspect.custom'),
  defaultOptions: {},
});

export function format(...parts: unknown[]): string {
  return internals.format(parts);
}

export function formatWithOptions(_options: object, ...parts: unknown[]): string {
  return internals.format(parts);
}

/** Says so once, in the log of the run. */
export function deprecate(original: Func, message: string, code?: string): Func {
  let isTold = false;
  return function (this: unknown, ...parts: unknown[]) {
    if (!isTold) console.warn(`${code ? `[${code}] ` : ''}DeprecationWarning: ${message}`);
    isTold = true;
    return Reflect.apply(original, this, parts);
  };
}

/** There is no NODE_DEBUG here. */
export function debuglog(): Func & { enabled: boolean } {
  return Object.assign(() => undefined, { enabled: false });
}
export { debuglog as debug };

export function stripVTControlCharacters(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it takes away
  return text.replace(/[\u001b\u009b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]/g, '');
}

export function toUSVString(text: unknown): string {
  return `${text}`.toWellFormed();
}

export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  return isEqual(a, b, []);
}

function isEqual(a: unknown, b: unknown, seen: readonly (readonly [object, object])[]): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (seen.some(([x, y]) => x === a && y === b)) return true;
  const deeper = [...seen, [a, b] as const];
  if (a instanceof Date && b instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
  if (a instanceof RegExp && String(a) !== String(b)) return false;
  if (a instanceof Error && b instanceof Error && (a.message !== b.message || a.name !== b.name))
    return false;
  if (a instanceof Map && b instanceof Map) {
    return (
      a.size === b.size && [...a].every(([key, value]) => b.has(key) && isEqual(value, b.get(key), deeper))
    );
  }
  if (a instanceof Set && b instanceof Set) {
    return (
      a.size === b.size &&
      [...a].every((one) => b.has(one) || [...b].some((other) => isEqual(one, other, deeper)))
    );
  }
  const keys = ownKeys(a);
  if (keys.length !== ownKeys(b).length) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && isEqual(Reflect.get(a, key), Reflect.get(b, key), deeper),
  );
}

function ownKeys(value: object): (string | symbol)[] {
  return Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
}

const tagOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);

export const types = {
  isAnyArrayBuffer: (value: unknown) => value instanceof ArrayBuffer,
  isArrayBuffer: (value: unknown) => value instanceof ArrayBuffer,
  isArrayBufferView: (value: unknown) => ArrayBuffer.isView(value),
  isAsyncFunction: (value: unknown) => tagOf(value) === 'AsyncFunction',
  isDataView: (value: unknown) => value instanceof DataView,
  isDate: (value: unknown) => value instanceof Date,
  isGeneratorFunction: (value: unknown) => /GeneratorFunction$/.test(tagOf(value)),
  isMap: (value: unknown) => value instanceof Map,
  isNativeError: (value: unknown) => value instanceof Error,
  isPromise: (value: unknown) => value instanceof Promise,
  isRegExp: (value: unknown) => value instanceof RegExp,
  isSet: (value: unknown) => value instanceof Set,
  isTypedArray: (value: unknown) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isUint8Array: (value: unknown) => value instanceof Uint8Array,
  isWeakMap: (value: unknown) => value instanceof WeakMap,
  isWeakSet: (value: unknown) => value instanceof WeakSet,
};

export const isArray = Array.isArray;

function invalid(name: string, type: string): TypeError {
  const message = `The "${name}" argument must be of type ${type}`;
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' });
}
