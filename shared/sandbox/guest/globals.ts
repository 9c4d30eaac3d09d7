/** What a Bot finds in its global scope beside the language, and what of the language it does not get. */

import { GuestBlob, GuestRequest, GuestResponse } from './body.ts';
import { GuestBuffer } from './buffer.ts';
import { guestStructuredClone } from './clone.ts';
import { guestConsole } from './console.ts';
import { guestCrypto } from './crypto.ts';
import { GuestTextDecoder, GuestTextEncoder, guestAtob, guestBtoa } from './encoding.ts';
import { DomError, GuestAbortController, GuestAbortSignal, GuestEvent, GuestEventTarget } from './events.ts';
import { guestFetch } from './fetch.ts';
import { GuestHeaders } from './headers.ts';
import { now } from './primordials.ts';
import { requireLibrary } from './require.ts';
import { GuestSearchParams } from './search-params.ts';
import { timerGlobals } from './timers.ts';
import { GuestUrl } from './url.ts';

/** WebAssembly's memory escapes the isolate's limit; shared memory has no use here but for attacks. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'];

const CLASSES = {
  AbortController: GuestAbortController,
  AbortSignal: GuestAbortSignal,
  Blob: GuestBlob,
  Buffer: GuestBuffer,
  DOMException: DomError,
  Event: GuestEvent,
  EventTarget: GuestEventTarget,
  Headers: GuestHeaders,
  Request: GuestRequest,
  Response: GuestResponse,
  TextDecoder: GuestTextDecoder,
  TextEncoder: GuestTextEncoder,
  URL: GuestUrl,
  URLSearchParams: GuestSearchParams,
};

export function installGlobals(): void {
  for (const name of REMOVED) {
    Reflect.deleteProperty(globalThis, name);
  }
  for (const [name, value] of Object.entries(CLASSES)) {
    Object.defineProperty(value, 'name', { value: name, configurable: true });
    define(name, value);
  }
  const began = now();
  define('console', guestConsole);
  define('crypto', guestCrypto);
  define('performance', { now: () => now() - began, timeOrigin: began });
  define('structuredClone', guestStructuredClone);
  define('atob', guestAtob);
  define('btoa', guestBtoa);
  define('fetch', guestFetch);
  define('require', requireLibrary);
  for (const [name, value] of Object.entries(timerGlobals)) {
    define(name, value);
  }
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
