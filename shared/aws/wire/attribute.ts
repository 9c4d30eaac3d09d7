/**
 * DynamoDB's typed JSON (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html)
 * and the values that @aws-sdk/lib-dynamodb takes and gives for it. No I/O.
 */

import { fieldsOf, isObject } from '../../base/values.ts';

/** As it stands in a request or answer: bytes are base64. */
type Attribute =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] }
  | { L: Attribute[] }
  | { M: AttributeMap };

export type AttributeMap = Record<string, Attribute>;

/** Members that are undefined are left out. @throws {TypeError} for what DynamoDB cannot hold exactly */
export function toAttributes(item: object): AttributeMap {
  const map: AttributeMap = {};
  for (const [name, value] of Object.entries(item)) {
    if (value !== undefined) set(map, name, toAttribute(value));
  }
  return map;
}

/** @throws {TypeError} for an attribute of no known type */
export function fromAttributes(map: Record<string, unknown>): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const name in map) set(item, name, fromAttribute(map[name]));
  return item;
}

function toAttribute(value: unknown): Attribute {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: exact(value) };
    case 'bigint':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return value === null ? { NULL: true } : fromObject(value);
    default:
      throw new TypeError(`DynamoDB holds no ${typeof value}`);
  }
}

function fromObject(value: object): Attribute {
  if (Array.isArray(value)) return { L: value.filter((one) => one !== undefined).map(toAttribute) };
  if (value instanceof Uint8Array) return { B: base64(value) };
  if (value instanceof Set) return setOf([...value]);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return { M: toAttributes(value) };
  throw new TypeError(`DynamoDB holds no ${prototype.constructor?.name}`);
}

function setOf(values: unknown[]): Attribute {
  if (values.length === 0) throw new TypeError('DynamoDB holds no empty set');
  if (values.every((one) => typeof one === 'string')) return { SS: values };
  if (values.every((one) => typeof one === 'number')) return { NS: values.map(exact) };
  if (values.every((one) => one instanceof Uint8Array)) return { BS: values.map(base64) };
  throw new TypeError('DynamoDB holds sets of strings, of numbers or of bytes');
}

function exact(value: number): string {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new TypeError(`DynamoDB does not hold ${value} exactly`);
}

function base64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function fromAttribute(attribute: unknown): unknown {
  const map = fieldsOf(attribute);
  for (const type in map) {
    const value = map[type];
    if (typeof value === 'string') {
      if (type === 'S') return value;
      if (type === 'N') return number(value);
      if (type === 'B') return Buffer.from(value, 'base64');
    } else if (Array.isArray(value)) {
      if (type === 'L') return value.map(fromAttribute);
      if (type === 'SS') return new Set(value);
      if (type === 'NS') return new Set(value.map(number));
      if (type === 'BS') return new Set(value.map((one) => Buffer.from(one, 'base64')));
    } else if (type === 'M' && isObject(value)) return fromAttributes(value);
    else if (type === 'BOOL') return value;
    else if (type === 'NULL') return null;
  }
  throw new TypeError('An attribute of no known type');
}

/** A whole number that JavaScript does not hold exactly is a bigint. */
function number(text: string): number | bigint {
  const value = Number(text);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || !/^-?\d+$/.test(text) ? value : BigInt(text);
}

/** An assignment to `__proto__` would change the object instead. */
function set(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
