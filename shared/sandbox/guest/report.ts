/** Says to the host how the run ended. Uses captured built-ins only: see primordials.ts. */

import { Hl7Message } from '../../hl7/message.ts';
import { post } from './host.ts';
import { inspect } from './inspect.ts';
import {
  ErrorClass,
  includes,
  objectToString,
  parseJson,
  slice,
  split,
  startsWith,
  stringifyJson,
  TypeErrorClass,
  text,
} from './primordials.ts';

const MESSAGE = 4096;
const STACK_LINES = 20;
const LONGEST_FRAME = 304;

/** Bytes allowed are checked by the host; a text with more characters than bytes allowed never leaves. */
export function reportReturned(value: unknown, resultBytes: number): void {
  let type = 'json';
  let result: string | undefined;
  try {
    if (value === undefined) {
      post('returned', 'undefined');
      return;
    }
    if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') {
      post(
        'unserialisable',
        `The Bot returned a ${typeof value === 'bigint' ? 'BigInt' : typeof value}, which is no JSON`,
      );
      return;
    }
    if (typeof value === 'string') {
      type = 'string';
      result = value;
    } else if (isHl7(value)) {
      type = 'hl7';
      result = text((value as object).toString());
    } else {
      result = stringifyJson(value);
    }
  } catch (error) {
    post('unserialisable', whyNot(error));
    return;
  }
  if (typeof result !== 'string') {
    post('unserialisable', 'The Bot returned an object whose toJSON gives nothing');
  } else if (result.length > resultBytes) {
    post('too-long');
  } else {
    post('returned', type, result);
  }
}

/** Ours, or one of @medplum/core's. */
function isHl7(value: unknown): boolean {
  if (value instanceof Hl7Message) {
    return true;
  }
  const like = value as Partial<Hl7Message> | null;
  return (
    typeof like === 'object' &&
    like !== null &&
    typeof like.getSegment === 'function' &&
    typeof like.getAllSegments === 'function' &&
    like.toString !== objectToString
  );
}

function whyNot(error: unknown): string {
  const message = read(error, 'message');
  // The constructor, not instanceof: a Proxy that was thrown would be asked for its prototype.
  if (read(error, 'constructor') === TypeErrorClass && typeof message === 'string') {
    if (includes(message, 'circular structure')) {
      return 'The Bot returned a cyclic object, which is no JSON';
    }
    if (includes(message, 'serialize a BigInt')) {
      return 'The Bot returned an object that holds a BigInt, which is no JSON';
    }
  }
  const what = typeof message === 'string' ? message : inspect(error);
  return `The Bot returned an object that cannot be read: ${slice(what, 0, MESSAGE)}`;
}

/** `filename`: only lines of the Bot's own file are shown. */
export function reportThrown(thrown: unknown, filename: string): void {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) {
    post('threw', 'Error', slice(typeof thrown === 'string' ? thrown : inspect(thrown), 0, MESSAGE));
    return;
  }
  const name = read(thrown, 'name');
  const message = read(thrown, 'message');
  const said = typeof message === 'string' ? message : inspect(thrown);
  post(
    'threw',
    typeof name === 'string' && name !== '' ? slice(name, 0, MESSAGE) : 'Error',
    slice(said, 0, MESSAGE),
    ownFrames(read(thrown, 'stack'), filename),
    outcomeOf(thrown),
  );
}

/** A getter or a Proxy may throw anything: then there is no such property. */
function read(value: unknown, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function ownFrames(stack: unknown, filename: string): string {
  if (typeof stack !== 'string') {
    return '';
  }
  let shown = '';
  let count = 0;
  const lines = split(slice(stack, 0, 65_536), '\n');
  for (let index = 0; index < lines.length && count < STACK_LINES; index++) {
    const line = lines[index] as string;
    // One that was cut could end inside a secret.
    if (line.length < LONGEST_FRAME && startsWith(line, '    at ') && includes(line, `${filename}:`)) {
      shown += `${count === 0 ? '' : '\n'}${slice(line, 4)}`;
      count += 1;
    }
  }
  return slice(shown, 0, MESSAGE);
}

/** JSON of the outcome that an OperationOutcomeError carries, else the empty string. */
function outcomeOf(thrown: unknown): string {
  const outcome = read(thrown, 'outcome');
  try {
    if (!(thrown instanceof ErrorClass) || read(outcome, 'resourceType') !== 'OperationOutcome') {
      return '';
    }
    const json = stringifyJson(outcome);
    return typeof json === 'string' && json.length <= 65_536 && read(parseJson(json), 'resourceType')
      ? json
      : '';
  } catch {
    return '';
  }
}
