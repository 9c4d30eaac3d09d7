/** Node's `util`, as far as it is about values. */

import { format as formatParts, inspect as show } from '../console.ts';
import { TextDecoder, TextEncoder } from '../parts/encoding.ts';

export { TextDecoder, TextEncoder };

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

export const inspect = Object.assign((value: unknown) => show(value), {
  custom: Symbol.for('nodejs.util.inspect.custom'),
  defaultOptions: {},
});
export const format = (...parts: unknown[]) => formatParts(parts);
export const formatWithOptions = (_options: object, ...parts: unknown[]) => formatParts(parts);

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

export const toUSVString = (text: unknown) => `${text}`.toWellFormed();

export const isDeepStrictEqual = (a: unknown, b: unknown) => isEqual(a, b, []);

/** `pairs` are being compared already, further out. */
function isEqual(a: unknown, b: unknown, pairs: readonly [unknown, unknown][]): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (pairs.some(([x, y]) => x === a && y === b)) return true;
  const isSame = (x: unknown, y: unknown) => isEqual(x, y, [...pairs, [a, b]]);
  if (a instanceof Date && b instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
  if (a instanceof RegExp && String(a) !== String(b)) return false;
  if (a instanceof Error && b instanceof Error && !isSame([a.name, a.message], [b.name, b.message]))
    return false;
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && isSame(value, b.get(key)));
  }
  if (a instanceof Set && b instanceof Set) {
    const has = (one: unknown) => b.has(one) || [...b].some((other) => isSame(one, other));
    return a.size === b.size && [...a].every(has);
  }
  const [keys, others] = [a, b].map((one) =>
    Reflect.ownKeys(one).filter((key) => Object.prototype.propertyIsEnumerable.call(one, key)),
  ) as [PropertyKey[], PropertyKey[]];
  const isAlike = (key: PropertyKey) =>
    Object.hasOwn(b, key) && isSame(Reflect.get(a, key), Reflect.get(b, key));
  return keys.length === others.length && keys.every(isAlike);
}

const tagOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);
const classes = { Date, Map, Promise, RegExp, Set, Uint8Array, WeakMap, WeakSet, DataView, ArrayBuffer };

export const types = {
  ...Object.fromEntries(
    Object.entries(classes).map(([name, one]) => [`is${name}`, (value: unknown) => value instanceof one]),
  ),
  isAnyArrayBuffer: (value: unknown) => value instanceof ArrayBuffer,
  isArrayBufferView: (value: unknown) => ArrayBuffer.isView(value),
  isAsyncFunction: (value: unknown) => tagOf(value) === 'AsyncFunction',
  isGeneratorFunction: (value: unknown) => /GeneratorFunction$/.test(tagOf(value)),
  isNativeError: (value: unknown) => value instanceof Error,
  isTypedArray: (value: unknown) => ArrayBuffer.isView(value) && !(value instanceof DataView),
};

export const isArray = Array.isArray;

function invalid(name: string, type: string): TypeError {
  const message = `The "${name}" argument must be of type ${type}`;
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' });
}
