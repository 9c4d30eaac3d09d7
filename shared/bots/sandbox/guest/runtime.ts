/**
 * The first script of every isolate: begins the run, calls the Bot and says to the host how it ended. Everything that
 * crosses is a string, but for the function of a library, which the host compiled in this very isolate.
 */

import type { RunInput } from '../../run/contract.ts';
import { guestConsole, inspect } from './console.ts';
import {
  create,
  defineProperty,
  ErrorClass,
  includes,
  objectToString,
  operations,
  parseJson,
  post,
  slice,
  split,
  startsWith,
  stringifyJson,
  TypeErrorClass,
  text,
} from './primordials.ts';
import { installGlobals, lazyMedplum, requireLibrary, usePart } from './scope.ts';

/** What of the request the guest needs, as JSON. */
interface Begin {
  kind: 'run' | 'check';
  inputKind: RunInput['kind'];
  event: object;
  resultBytes: number;
  filename: string;
  apiBaseUrl?: string;
  /** Where the client comes from. */
  clientLibrary: string;
}

type Exports = Record<string, unknown>;
type CommonJs = (exports: Exports, require: unknown, module: { exports: Exports }) => void;
type Handler = (medplum: object, event: object) => unknown;

const MESSAGE = 4096;
const STACK_LINES = 20;
const LONGEST_FRAME = 304;

let begin: Begin | undefined;
let input = '';
let received = false;

/** `runtime` is all that the scripts around this one export. @returns what receives `(operation, ...parts)` */
export function start(runtime: object): (operation: string, ...parts: never[]) => void {
  installGlobals(runtime, guestConsole);
  operations.begin = (head: string, given: string) => {
    begin = parseJson(head) as Begin;
    input = given;
    // The Bot's wrapper calls this once; a Bot that calls it first harms only its own run.
    defineProperty(globalThis, '__bot', { value: onBot, configurable: true });
  };
  return (operation, ...parts) => operations[operation]?.(...parts);
}

/** An ES module's namespace, or the function around a CommonJS text. */
function onBot(bot: Exports | CommonJs): void {
  if (received || begin === undefined) return;
  received = true;
  Reflect.deleteProperty(globalThis, '__bot');
  const module = { exports: (typeof bot === 'function' ? {} : bot) as Exports };
  if (typeof bot === 'function') {
    try {
      Reflect.apply(bot, module.exports, [module.exports, requireLibrary, module]);
    } catch (error) {
      reportThrown(error, begin.filename);
      return;
    }
  }
  post('loaded');
  const handler = handlerOf(module.exports);
  if (typeof handler !== 'function') {
    post('no-handler');
  } else if (begin.kind === 'check') {
    post('returned', 'undefined');
  } else {
    void run(handler as Handler, begin);
  }
}

/** A named export, or the property of a default export as transpilers leave it. */
function handlerOf(exports: Exports): unknown {
  try {
    return exports?.handler ?? (exports?.default as Exports | undefined)?.handler;
  } catch {
    return undefined;
  }
}

/** Never rejects. `await` looks at no patched `then` of a native promise. */
async function run(
  handler: Handler,
  { event, inputKind, apiBaseUrl, clientLibrary, resultBytes, filename }: Begin,
): Promise<void> {
  try {
    const parsed = readInput(inputKind, input);
    input = '';
    const { bot, contentType, requester, secrets, headers, traceId } = event as Record<string, unknown>;
    const whole = { bot, input: parsed, contentType, requester, secrets, headers, traceId };
    reportReturned(await handler(lazyMedplum(apiBaseUrl, clientLibrary), whole), resultBytes);
  } catch (error) {
    reportThrown(error, filename);
  }
}

/** `event.input` from the text that the caller sent. Throws what the parser throws. */
function readInput(kind: RunInput['kind'], sent: string): unknown {
  switch (kind) {
    case 'text':
      return sent;
    case 'json':
    case 'fhir':
      return parseJson(sent);
    case 'form':
      // Field names come from outside: `toString` or `__proto__` must be a field like any other.
      return Object.assign(create(null), parseJson(sent));
    case 'hl7':
      return usePart<typeof import('./parts/hl7.ts')>('portico:hl7').parseMessage(sent);
    case 'none':
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** Bytes allowed are checked by the host; a text with more characters than bytes allowed never leaves. */
function reportReturned(value: unknown, resultBytes: number): void {
  const kind = typeof value;
  if (kind === 'undefined') {
    post('returned', 'undefined');
    return;
  }
  if (kind === 'function' || kind === 'symbol' || kind === 'bigint') {
    post('unserialisable', `The Bot returned a ${kind === 'bigint' ? 'BigInt' : kind}, which is no JSON`);
    return;
  }
  let type = 'string';
  let result = value;
  try {
    if (kind !== 'string') {
      type = isHl7(value) ? 'hl7' : 'json';
      result = type === 'hl7' ? text((value as object).toString()) : stringifyJson(value);
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
  const like = value as Record<string, unknown> | null;
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
    if (includes(message, 'circular structure')) return 'The Bot returned a cyclic object, which is no JSON';
    if (includes(message, 'serialize a BigInt')) {
      return 'The Bot returned an object that holds a BigInt, which is no JSON';
    }
  }
  const what = typeof message === 'string' ? message : inspect(error);
  return `The Bot returned an object that cannot be read: ${slice(what, 0, MESSAGE)}`;
}

/** `filename`: only lines of the Bot's own file are shown. */
function reportThrown(thrown: unknown, filename: string): void {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) {
    post('threw', 'Error', slice(typeof thrown === 'string' ? thrown : inspect(thrown), 0, MESSAGE));
    return;
  }
  const name = read(thrown, 'name');
  const message = read(thrown, 'message');
  post(
    'threw',
    typeof name === 'string' && name !== '' ? slice(name, 0, MESSAGE) : 'Error',
    slice(typeof message === 'string' ? message : inspect(thrown), 0, MESSAGE),
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
  if (typeof stack !== 'string') return '';
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
    if (!(thrown instanceof ErrorClass) || read(outcome, 'resourceType') !== 'OperationOutcome') return '';
    const json = stringifyJson(outcome);
    const isKept = typeof json === 'string' && json.length <= 65_536;
    return isKept && read(parseJson(json), 'resourceType') ? json : '';
  } catch {
    return '';
  }
}
