import type { WantedRange } from './range.ts';
import type { Span } from './span.ts';
import type { Value } from './value.ts';

/** A condition on the values of one parameter. */
export interface Looked {
  /** @param values all that a resource has for the parameter */
  matches(values: readonly Value[]): boolean;
  /** Where its hits are in the parameter's index; undefined when the index does not help. */
  spans: readonly Span[] | undefined;
  range?: WantedRange;
}

/** Thrown with a public text when a value or a modifier does not fit its parameter. */
export class InvalidFilter extends Error {}
