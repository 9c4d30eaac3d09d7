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
