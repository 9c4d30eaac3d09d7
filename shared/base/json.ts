import { deepestJson, mostJsonValues } from './limits.ts';
import { Refusal } from './refusal.ts';

/**
 * JSON in which numbers keep the digits they were sent with: FHIR decimals are exact, `1.50` is
 * not `1.5` (R4 datatypes, decimal). A number that JavaScript would print otherwise becomes a
 * raw JSON value; every other value is as JSON.parse makes it.
 * @throws {SyntaxError} on malformed JSON
 */
export function parseJson(text: string): unknown {
  // A reviver costs five times the parse: only where a number may need it.
  if (!unusualNumber.test(text)) return JSON.parse(text);
  return JSON.parse(text, exactNumber as (key: string, value: unknown) => unknown);
}

/**
 * Whatever JavaScript would print otherwise is among these: zeros at the end of a fraction, exponents,
 * sixteen digits and more, less than a millionth, minus zero. Inside strings it does no harm.
 */
const unusualNumber = /\.\d*0(?!\d)|\d[eE]|\d[\d.]{15}|0\.000000|(?:^|[\s:,[])-0/;

/** Prints what parseJson read, digits and all. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value);
}

/** How many bytes of UTF-8 a value is as JSON text. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(stringifyJson(value));
}

/** A number that keeps its digits. */
export interface ExactNumber {
  readonly rawJSON: string;
}

// ECMAScript 2026, JSON.parse source text access; TypeScript's library does not know it yet.
const { rawJSON: rawJson, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

/** What a client sends is none, whatever its members are called. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return isRawJSON(value);
}

function exactNumber(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined) return value;
  return String(value) === context.source ? value : rawJson(context.source);
}

/** A JSON number, also one that keeps its digits. */
export function numberOf(value: unknown): number | undefined {
  const number = isExactNumber(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** @throws {Refusal} invalid when JSON nests deeper than SPEC section 9 allows */
export function requireDepth(text: string): void {
  if (isDeeperThan(text, deepestJson)) {
    throw new Refusal('invalid', `JSON deeper than ${deepestJson} levels`);
  }
}

/**
 * What is worked on by us: checked, compared, stored. (A Bot's input is only passed on.)
 * @throws {Refusal} invalid, also for what no store keeps as it is; too-costly when it holds more values than a
 *   request may
 */
export function requireModest(text: string): void {
  requireDepth(text);
  if (hasHalfCharacter(text)) {
    throw new Refusal('invalid', 'The body holds half of a surrogate pair, which is no character');
  }
  if (valuesIn(text) <= mostJsonValues) return;
  const advice = 'send it in several requests (npm run import divides Bundles)';
  throw new Refusal('too-costly', `The body holds more than ${mostJsonValues} values: ${advice}`);
}

const surrogate = /\\u[dD][89a-fA-F]/;
const escapes = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F])|.)/gs;

/** Whether an escape of a JSON text is half of a surrogate pair; as they are UTF-8 has none. */
function hasHalfCharacter(text: string): boolean {
  return surrogate.test(text) && [...text.matchAll(escapes)].some(([, half]) => half !== undefined);
}

/** How many values, members of objects and entries of lists, a JSON text holds; a few more where some are empty. */
export function valuesIn(text: string): number {
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === comma || code === openBrace || code === openBracket) values++;
  }
  return values;
}

/** Whether arrays and objects nest deeper than `limit`, in one pass and without recursion. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === openBrace || code === openBracket) {
      if (++depth > limit) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

function endOfString(text: string, start: number): number {
  for (let i = text.indexOf('"', start + 1); i >= 0; i = text.indexOf('"', i + 1)) {
    let slashes = 0;
    while (text.charCodeAt(i - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return i;
  }
  return text.length;
}
