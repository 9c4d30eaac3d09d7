/** Checks what the child answers, which may be forged, and builds an outcome of the contract from it. */

import type { ReturnedValue, RunLimits, RunOutcome } from '../bot/contract.ts';
import { fieldsOf } from '../fields-of.ts';
import { jsonDepth } from './json-text.ts';
import { cut, escapeControls, type Mask } from './run-log.ts';

const MESSAGE = 4096;
const MOST_DEPTH = 128;

/** Never throws, whatever `claim` is. */
export function judgeOutcome(claim: unknown, limits: RunLimits, mask: Mask): RunOutcome {
  const said = fieldsOf(claim);
  const message = cut(mask(string(said.message)), MESSAGE);
  switch (said.kind) {
    case 'returned':
      return returned(fieldsOf(said.value), limits.resultBytes);
    case 'threw': {
      const stack = escapeControls(cut(mask(string(said.stack)), MESSAGE));
      const outcome = string(said.outcome);
      if (said.name === 'RangeError' && message === 'Array buffer allocation failed') {
        return {
          kind: 'limit',
          limit: 'memory',
          message: `The Bot used more than ${limits.memoryMb} MiB of memory`,
        };
      }
      return {
        kind: 'threw',
        name: cut(mask(string(said.name)), 200),
        message,
        ...(stack && { stack }),
        ...(isObjectText(outcome) && { outcome }),
      };
    }
    case 'unserialisable':
    case 'no-handler':
      return { kind: said.kind, message };
    case 'not-compiled': {
      const { line, column } = said;
      return {
        kind: 'not-compiled',
        message,
        ...(isCount(line) && { line }),
        ...(isCount(column) && { column }),
      };
    }
    case 'limit':
      if (said.limit === 'time' || said.limit === 'memory') {
        return { kind: 'limit', limit: said.limit, message };
      }
      return tooLong(limits.resultBytes);
    default:
      return { kind: 'unserialisable', message: 'The Bot ended without a result' };
  }
}

function returned(value: Record<string, unknown>, resultBytes: number): RunOutcome {
  const { type, text } = value;
  if (type === 'undefined') {
    return { kind: 'returned', value: { type } };
  }
  if ((type !== 'json' && type !== 'string' && type !== 'hl7') || typeof text !== 'string') {
    return { kind: 'unserialisable', message: 'The Bot ended without a result' };
  }
  if (Buffer.byteLength(text) > resultBytes) {
    return tooLong(resultBytes);
  }
  if (type === 'json') {
    const depth = jsonDepth(text);
    if (depth === undefined || depth > MOST_DEPTH) {
      const what = depth === undefined ? 'is no JSON' : `is nested deeper than ${MOST_DEPTH} levels`;
      return { kind: 'unserialisable', message: `The result of the Bot ${what}` };
    }
  }
  return { kind: 'returned', value: { type, text } satisfies ReturnedValue };
}

function tooLong(resultBytes: number): RunOutcome {
  return {
    kind: 'limit',
    limit: 'output',
    message: `The result of the Bot is longer than ${resultBytes} bytes`,
  };
}

function isObjectText(text: string): boolean {
  const depth = jsonDepth(text);
  return text.startsWith('{') && depth !== undefined && depth <= MOST_DEPTH;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A line or column: a whole number from 1 that fits 32 bits. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31;
}
