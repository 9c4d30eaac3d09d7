import { numberOf } from '../fhir/json.ts';
import type { Prefix, Range } from './range.ts';
import { fieldOf, textOf, type Value } from './value.ts';

/** A number as 16 hex digits that sort as numbers do (IEEE 754 with its sign turned round). */
export function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const sign = 1n << 63n;
  return (bits & sign ? ~bits & 0xffffffffffffffffn : bits | sign).toString(16).padStart(16, '0');
}

/** The ranges of a number, Quantity, Money or Range. */
export function numbersOf({ type, value }: Value): Range[] {
  if (type === 'Range') {
    const low = numberOf(fieldOf(fieldOf(value, 'low'), 'value')) ?? Number.NEGATIVE_INFINITY;
    const high = numberOf(fieldOf(fieldOf(value, 'high'), 'value')) ?? Number.POSITIVE_INFINITY;
    return [{ low: sortableNumber(low), high: sortableNumber(high) }];
  }
  const number = numberOf(value) ?? numberOf(fieldOf(value, 'value'));
  return number === undefined ? [] : [{ low: sortableNumber(number), high: sortableNumber(number) }];
}

/**
 * A searched number: for equality all that rounds to it at the digits given (`100` is 99.5 up to
 * 100.5), for `ap` a tenth to both sides, for comparisons the very number.
 */
export function parseNumber(text: string, prefix: Prefix): Range | undefined {
  if (!/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  const exact = prefix !== 'eq' && prefix !== 'ne' && prefix !== 'ap';
  const around = exact ? 0 : prefix === 'ap' ? Math.abs(value) / 10 : halfOfLastDigit(text);
  return {
    low: sortableNumber(value - around),
    // Half of the last digit may be less than a double can tell.
    high: sortableNumber(prefix === 'ap' || exact ? value + around : Math.max(value, below(value + around))),
  };
}

/** What `[number]|[system]|[code]` asks of a quantity beside its number. */
export interface WantedUnit {
  system: string | undefined;
  code: string | undefined;
}

export function matchesUnit({ type, value }: Value, { system, code }: WantedUnit): boolean {
  const quantity = type === 'Range' ? (fieldOf(value, 'low') ?? fieldOf(value, 'high')) : value;
  if (system && textOf(fieldOf(quantity, 'system')) !== system) return false;
  if (!code) return true;
  return ['code', 'unit', 'currency'].some((name) => fieldOf(quantity, name) === code);
}

export function isPoint({ low, high }: Range): boolean {
  return low === high;
}

function halfOfLastDigit(text: string): number {
  const [, fraction = '', exponent = '0'] = /^[+-]?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  return 0.5 * 10 ** (Number(exponent) - fraction.length);
}

/** The greatest number below: the upper bound is not included. */
function below(value: number): number {
  return value - Math.abs(value) * Number.EPSILON || -Number.MIN_VALUE;
}
