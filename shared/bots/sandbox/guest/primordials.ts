/**
 * Built-ins as they were before the Bot's first line, and the ways to the host. What reports the result, a throw or a
 * log line uses only these: a Bot that patches a prototype changes its own program, not what is said about it.
 */

type Call = (operation: string, a?: string, b?: string, c?: string, d?: string) => string | undefined;

/** Parameters of the function around the runtime script: infra/guest/build.ts. Never handed to the Bot. */
declare const hostCallOfPortico: Call;
declare const hostPostOfPortico: (...parts: Parameters<Call>) => void;

/** Waits for the host, so that a Bot in a loop cannot pile up work for it. */
export const call = hostCallOfPortico;
/** Does not wait: for messages that are sent once in a run. */
export const post = hostPostOfPortico;

/** Throws what the host says is wrong; for what it answers without looking at the run: child/host-calls.ts. */
export function ask(operation: string, a?: string, b?: string, c?: string, d?: string): string {
  const answer = call(operation, a, b, c, d) ?? '-The host does not answer';
  if (answer[0] !== '+') throw new ErrorClass(slice(answer, 1));
  return slice(answer, 1);
}

/** A function of Node's own modules, of which the host has a list. */
export function inNode<Value>(name: string, ...parts: unknown[]): Value {
  return parseJson(ask('node', name, stringifyJson(parts)));
}

const uncurryThis = Function.prototype.bind.bind(Function.prototype.call) as <T, A extends unknown[], R>(
  method: (this: T, ...parts: A) => R,
) => (self: T, ...parts: A) => R;

export const stringifyJson = JSON.stringify;
export const parseJson = JSON.parse;
export const ErrorClass = Error;
export const TypeErrorClass = TypeError;
const settled = Promise.resolve();
const chain = uncurryThis(Promise.prototype.then) as (promise: unknown, run: () => void) => unknown;
/** In a microtask of its own: what it throws is an unhandled rejection and stops nothing else. */
export const soon = (run: () => void): void => void chain(settled, run);
export const text = String;
export const isArray = Array.isArray;
export const now = Date.now;
export const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, create } = Object;
export const { ownKeys } = Reflect;
export const objectToString = Object.prototype.toString;
export const slice = uncurryThis(String.prototype.slice);
export const split = uncurryThis(String.prototype.split as (this: string, by: string) => string[]);
export const includes = uncurryThis(String.prototype.includes);
export const startsWith = uncurryThis(String.prototype.startsWith);
export const dateToJson = uncurryThis(Date.prototype.toISOString);
export const regExpToString = uncurryThis(RegExp.prototype.toString);
export const mapForEach = uncurryThis(Map.prototype.forEach);
export const setForEach = uncurryThis(Set.prototype.forEach);

/** What the host may call. */
export const operations = create(null) as Record<string, (...parts: never[]) => void>;
