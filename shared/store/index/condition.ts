import { invalidField } from '../../base/refusal.ts';
import type { BucketRange, IndexEntry } from './key-range.ts';
import type { SearchParameter } from './registry.ts';
import type { Value } from './value.ts';

/** All of a type of search parameter: what is indexed of its values, what is asked of them, and their order. */
export interface ParameterKind {
  entries(values: readonly Value[], id: string): IndexEntry[];
  /** @throws {Refusal} invalid, when a value or the modifier does not fit the parameter */
  condition(asked: ConditionRequest): ValueCondition;
  /** What values are put in order by, as texts that sort as they do. */
  sortTexts(values: readonly Value[]): readonly string[];
}

export interface ConditionRequest {
  parameter: SearchParameter;
  /** The parameter as the caller names it. */
  name: string;
  modifier: string | undefined;
  /** The alternatives between commas, still escaped. */
  values: readonly string[];
}

/** A condition on the values of one parameter. */
export interface ValueCondition {
  /** @param values all that a resource has for the parameter */
  matches(values: readonly Value[]): boolean;
  /** Where its hits are in the parameter's index; left out when the index does not help. */
  ranges?: readonly BucketRange[] | undefined;
  /**
   * Whether an index item in one of the ranges alone shows that its resource is a hit; left out when none does.
   * @param sort what stands before the id in its sort key
   */
  proves?: (bucket: string, sort: string) => boolean;
  /** Of dates and numbers, when one is asked for. */
  interval?: SearchedInterval;
  /** How many of them each value is compared with one by one; 1 when they are looked up in a set. */
  alternatives?: number;
}

/** Bounds of a value, both inside it, as texts that sort as the values do. */
export interface Interval {
  low: string;
  high: string;
}

/** R4 search, prefixes. */
export const prefixes = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'] as const;
export type Prefix = (typeof prefixes)[number];

export interface SearchedInterval extends Interval {
  prefix: Prefix;
}

/**
 * The type of what is returned is written down where it is called, so that a new modifier does not compile there.
 * @param known the modifiers that this type of parameter has
 * @throws {Refusal} invalid, for another
 */
export function requireModifier<T extends string>(
  known: readonly T[],
  { parameter: { code }, modifier, name }: ConditionRequest,
): T | undefined {
  const found = known.find((one) => one === modifier);
  if (modifier === undefined || found !== undefined) return found;
  throw invalidField(name, `The modifier :${modifier} is not supported for ${code}`);
}
