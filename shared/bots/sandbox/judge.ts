/** Checks what a child process says, which may be forged, and builds values of the contract from it. */

import { mostPlaces } from '../../base/limits.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Compiled, RunLimits, RunOutcome } from '../run/contract.ts';
import { overMemory } from './protocol.ts';
import { cut, escapeControls, type Mask } from './run-log.ts';

const MESSAGE = 4096;
const MOST_DEPTH = 128;
/** Of compiled code: twice the longest source. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** Never throws, whatever `claim` is. */
export function judgeOutcome(claim: unknown, limits: RunLimits, mask: Mask): RunOutcome {
  const said = fieldsOf(claim);
  const message = cut(mask(string(said.message)), MESSAGE);
  switch (said.kind) {
    case 'returned':
      return returned(fieldsOf(said.value), limits.resultBytes);
    case 'threw': {
      if (said.name === 'RangeError' && message === 'Array buffer allocation failed')
        return overMemory(limits);
      const name = cut(mask(string(said.name)), 200);
      const stack = escapeControls(cut(mask(string(said.stack)), MESSAGE));
      const outcome = string(said.outcome);
      const isKept = outcome.startsWith('{') && whyNoJson(outcome) === undefined;
      return { kind: 'threw', name, message, ...(stack && { stack }), ...(isKept && { outcome }) };
    }
    case 'unserialisable':
    case 'no-handler':
      return { kind: said.kind, message };
    case 'not-compiled':
      return { kind: 'not-compiled', message, ...placeOf(said) };
    case 'limit':
      if (said.limit !== 'time' && said.limit !== 'memory') return tooLong(limits.resultBytes);
      return { kind: 'limit', limit: said.limit, message };
    default:
      return { kind: 'unserialisable', message: 'The Bot ended without a result' };
  }
}

function returned({ type, text }: Record<string, unknown>, resultBytes: number): RunOutcome {
  if (type === 'undefined') return { kind: 'returned', value: { type } };
  if ((type !== 'json' && type !== 'string' && type !== 'hl7') || typeof text !== 'string') {
    return { kind: 'unserialisable', message: 'The Bot ended without a result' };
  }
  if (Buffer.byteLength(text) > resultBytes) return tooLong(resultBytes);
  const what = type === 'json' ? whyNoJson(text) : undefined;
  if (what !== undefined) return { kind: 'unserialisable', message: `The result of the Bot ${what}` };
  return { kind: 'returned', value: { type, text } };
}

function tooLong(resultBytes: number): RunOutcome {
  const message = `The result of the Bot is longer than ${resultBytes} bytes`;
  return { kind: 'limit', limit: 'output', message };
}

function whyNoJson(text: string): string | undefined {
  const depth = jsonDepth(text);
  if (depth === undefined) return 'is no JSON';
  return depth > MOST_DEPTH ? `is nested deeper than ${MOST_DEPTH} levels` : undefined;
}

/** Never throws, whatever `claim` is: the text that the compiler read may have taken it over. */
export function judgeCompiled(claim: unknown): Compiled {
  const said = fieldsOf(claim);
  const { kind, format, text, places } = said;
  if (kind === 'compiled' && (format === 'esm' || format === 'cjs') && typeof text === 'string') {
    if (text.length > MOST_CHARACTERS) {
      return { kind: 'refused', message: 'The code is too long once it has been compiled' };
    }
    return { kind, format, text, ...(arePlaces(places) && { places }) };
  }
  const message = typeof said.message === 'string' ? said.message : 'The code does not compile';
  return { kind: 'refused', message: cut(escapeControls(message), MESSAGE), ...placeOf(said) };
}

function arePlaces(places: unknown): places is number[] {
  const isShort = Array.isArray(places) && places.length % 4 === 0 && places.length <= mostPlaces * 4;
  return isShort && places.every(isCount);
}

function placeOf({ line, column }: Record<string, unknown>): { line?: number; column?: number } {
  return { ...(isCount(line) && { line }), ...(isCount(column) && { column }) };
}

/** A line or column: a whole number from 1 that fits 32 bits. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Each ends where it cannot go on: none goes back, so that a text of any length takes linear time and no stack. */
const SPACE = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that must be escaped
const CHARACTERS = /[^"\\\0-\x1f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * The depth of nesting (0 for a scalar); undefined when it is no JSON text (RFC 8259). One pass that builds no value:
 * a hostile result must cost the host nothing.
 */
export function jsonDepth(text: string): number | undefined {
  const open: string[] = [];
  let deepest = 0;
  let at = 0;
  let expect: 'value' | 'name' | 'next' = 'value';
  let isEmpty = false;

  function skip(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  }
  function skipString(): boolean {
    at += 1;
    do skip(CHARACTERS);
    while (skip(ESCAPE));
    at += 1;
    return text[at - 1] === '"';
  }

  for (;;) {
    skip(SPACE);
    const mark = text[at];
    const around = open.at(-1);
    const wasEmpty = isEmpty;
    isEmpty = false;
    if (around !== undefined && mark === (around === '{' ? '}' : ']') && (wasEmpty || expect === 'next')) {
      open.pop();
      expect = 'next';
      at += 1;
    } else if (expect === 'next') {
      if (around === undefined) return at === text.length ? deepest : undefined;
      if (mark !== ',') return undefined;
      expect = around === '{' ? 'name' : 'value';
      at += 1;
    } else if (expect === 'name') {
      if (mark !== '"' || !skipString()) return undefined;
      skip(SPACE);
      if (text[at] !== ':') return undefined;
      expect = 'value';
      at += 1;
    } else if (mark === '{' || mark === '[') {
      open.push(mark);
      deepest = Math.max(deepest, open.length);
      expect = mark === '{' ? 'name' : 'value';
      isEmpty = true;
      at += 1;
    } else {
      if (!(mark === '"' ? skipString() : skip(SCALAR))) return undefined;
      expect = 'next';
    }
  }
}
