/**
 * The first script of every isolate. Its wrapper calls `start` and returns what the host talks to.
 * Everything that crosses is a string, but for the function of a library, which the host compiled in
 * this very isolate.
 */

import type { RunInput } from '../../bot/contract.ts';
import { failed, fetched } from './fetch.ts';
import { installGlobals } from './globals.ts';
import { bindHost, type Call, post } from './host.ts';
import { readInput } from './input.ts';
import { lazyMedplum } from './medplum.ts';
import { defineProperty, parseJson } from './primordials.ts';
import { reportReturned, reportThrown } from './report.ts';
import { preloadLibrary, receiveLibrary, requireLibrary } from './require.ts';
import { wake } from './timers.ts';

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

let begin: Begin | undefined;
let input = '';
let received = false;

/** `call` is the host's; the result receives `(operation, ...parts)` from the host. */
export function start(callHost: Call, postToHost: Call): (operation: string, ...parts: never[]) => void {
  bindHost(callHost, postToHost);
  installGlobals();
  return (operation, ...parts) => {
    (operations[operation] as (...parts: never[]) => void)(...parts);
  };
}

const operations: Record<string, (...parts: never[]) => void> = {
  begin(head: string, text: string) {
    begin = parseJson(head) as Begin;
    input = text;
    // The Bot's wrapper calls this once; a Bot that calls it first harms only its own run.
    defineProperty(globalThis, '__bot', { value: onBot, configurable: true });
  },
  library: receiveLibrary,
  preload: preloadLibrary,
  wake,
  fetched,
  'fetch-failed': failed,
};

/** An ES module's namespace, or the function around a CommonJS text. */
function onBot(bot: Exports | CommonJs): void {
  if (received || begin === undefined) {
    return;
  }
  received = true;
  Reflect.deleteProperty(globalThis, '__bot');
  if (typeof bot !== 'function') {
    onLoaded(bot, begin);
    return;
  }
  const module = { exports: {} as Exports };
  try {
    Reflect.apply(bot, module.exports, [module.exports, requireLibrary, module]);
  } catch (error) {
    reportThrown(error, begin.filename);
    return;
  }
  onLoaded(module.exports, begin);
}

function onLoaded(exports: Exports, toRun: Begin): void {
  post('loaded');
  const handler = handlerOf(exports);
  if (typeof handler !== 'function') {
    post('no-handler');
  } else if (toRun.kind === 'check') {
    post('returned', 'undefined');
  } else {
    void run(handler as Handler, toRun);
  }
}

type Handler = (medplum: object, event: object) => unknown;

/** Never rejects. `await` looks at no patched `then` of a native promise. */
async function run(
  handler: Handler,
  { event, inputKind, apiBaseUrl, clientLibrary, resultBytes, filename }: Begin,
): Promise<void> {
  try {
    const parsed = readInput(inputKind, input);
    input = '';
    const { bot, contentType, requester, secrets, headers, traceId } = event as Record<string, unknown>;
    const value = await handler(lazyMedplum(apiBaseUrl, clientLibrary), {
      bot,
      input: parsed,
      contentType,
      requester,
      secrets,
      headers,
      traceId,
    });
    reportReturned(value, resultBytes);
  } catch (error) {
    reportThrown(error, filename);
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
