import type { WantedRange } from '../../index/range.ts';
import type { Parameter } from '../../index/registry.ts';
import type { Span } from '../../index/span.ts';
import type { Value } from '../../index/value.ts';
import { type ModifierOf, modifiers } from './modifiers.ts';

/** A condition on the values of one parameter. */
export interface Looked {
  /** @param values all that a resource has for the parameter */
  matches(values: readonly Value[]): boolean;
  /** Where its hits are in the parameter's index; undefined when the index does not help. */
  spans: readonly Span[] | undefined;
  /**
   * Whether an index item in one of the spans alone shows that its resource is a hit; undefined when none does.
   * @param sort what stands before the id in its sort key
   */
  proves?: (bucket: string, sort: string) => boolean;
  range?: WantedRange;
  /** How many of them each value is compared with one by one; 1 when they are looked up in a set. */
  alternatives?: number;
}

/** Thrown with a public text when a value or a modifier does not fit its parameter. */
export class InvalidFilter extends Error {}

/** @throws {InvalidFilter} for a modifier that this type of parameter has not */
export function requireModifier<T extends Parameter['type']>(
  type: T,
  { code }: Parameter,
  modifier: string | undefined,
): ModifierOf<T> | undefined {
  const known: readonly ModifierOf<T>[] = modifiers[type];
  const found = known.find((one) => one === modifier);
  if (modifier === undefined || found !== undefined) return found;
  throw new InvalidFilter(`The modifier :${modifier} is not supported for ${code}`);
}
