import { deepestJson, mostJsonValues } from '../limits.ts';
import { Refusal } from '../refusal.ts';

/** @throws {Refusal} invalid when JSON nests deeper than SPEC section 9 allows */
export function requireDepth(text: string): void {
  if (isDeeperThan(text, deepestJson)) {
    throw new Refusal('invalid', `JSON deeper than ${deepestJson} levels`);
  }
}

/**
 * What is worked on by us: checked, compared, stored. (A Bot's input is only passed on.)
 * @throws {Refusal} invalid; too-costly when it holds more values than a request may
 */
export function requireModest(text: string): void {
  requireDepth(text);
  if (valuesIn(text) <= mostJsonValues) return;
  const advice = 'send it in several requests (npm run import divides Bundles)';
  throw new Refusal('too-costly', `The body holds more than ${mostJsonValues} values: ${advice}`);
}

/** How many values, members of objects and entries of lists, a JSON text holds; a few more where some are empty. */
function valuesIn(text: string): number {
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
