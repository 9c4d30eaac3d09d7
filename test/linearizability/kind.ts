import type { Answer } from '../spec/portico.ts';
import type { Model } from './search.ts';

/** What a caller sends. */
export interface Request {
  method: string;
  path: string;
  body?: object | string;
  headers?: Record<string, string>;
  /** The access token; null for none. */
  token: string | null;
}

/** What an answer says. */
export interface Outcome {
  status: number;
}

/** Numbers that are drawn by lot: what is done, to which, and how. */
export interface Draw {
  what: number;
  which: number;
  how: number;
}

/** Objects of one kind: how they behave, and how they are called. Made anew for each history. */
export interface Kind<State, Input, Output extends Outcome> {
  model: Model<State, Input, Output>;
  /** What somebody does next, of what is known by now; undefined when there is nothing to do it to. */
  choose(draw: Draw): Input | undefined | Promise<Input | undefined>;
  request(input: Input): Request | Promise<Request>;
  /**
   * What an answer says; what is learned from it others may use from then on.
   * @returns undefined when it does not say what became of the operation
   */
  read(input: Input, answer: Answer): Output | undefined;
  /** What is read when nobody does anything any more. */
  last(): Input[];
}

/** Stands in a state for an id or a version that nobody has been told. */
export const unknown = '?';

/** What is known of a name with what an answer says of it; undefined when the two differ. */
export function bound(known: string, told: string | undefined): string | undefined {
  if (told === undefined || told === known) return known;
  return known === unknown ? told : undefined;
}

/** One of the newest. */
export function pick<T>(list: readonly T[], which: number): T | undefined {
  return list.at(-1 - (which % Math.max(1, Math.min(list.length, 3))));
}

/** The reference of a resource that somebody was told of. */
export const idOf = ({ reference }: { reference: string }): string => reference.split('/')[1] ?? '';
