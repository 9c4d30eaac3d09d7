/** What a Bot finds in its global scope beside the language, and what of the language it does not get. */

import { latin1Bytes, latin1Text } from './binary-text.ts';
import { acceptFormData, blobBytes, GuestBlob, GuestRequest, GuestResponse } from './body.ts';
import { wholeBuffer } from './buffer/buffer.ts';
import { guestStructuredClone } from './clone.ts';
import { format, guestConsole } from './console.ts';
import { guestCrypto } from './crypto.ts';
import { bytesOf, GuestTextDecoder, GuestTextEncoder, guestAtob, guestBtoa } from './encoding.ts';
import { DomError, GuestAbortController, GuestAbortSignal, GuestEvent, GuestEventTarget } from './events.ts';
import { guestFetch } from './fetch.ts';
import { GuestHeaders } from './headers.ts';
import { call } from './host.ts';
import { inspect } from './inspect.ts';
import type { Internals } from './node/internals.ts';
import { now } from './primordials.ts';
import { importLibrary, provideInternals, requireLibrary, useLibrary } from './require.ts';
import { GuestSearchParams } from './search-params.ts';
import { timerGlobals } from './timers.ts';
import { GuestUrl } from './url.ts';
import { utf8Bytes } from './utf8.ts';

/** WebAssembly's memory escapes the isolate's limit; shared memory has no use here but for attacks. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'];

const CLASSES = {
  AbortController: GuestAbortController,
  AbortSignal: GuestAbortSignal,
  Blob: GuestBlob,
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
  define('self', globalThis);
  define('global', globalThis);
  defineLate('Buffer', wholeBuffer);
  defineLate('FormData', () => forms().GuestFormData);
  defineLate('File', () => forms().GuestFile);
  provideInternals({
    call,
    get Buffer() {
      return wholeBuffer();
    },
    bytesOf,
    latin1Bytes,
    latin1Text,
    utf8Bytes,
    inspect,
    format,
    Blob: GuestBlob,
    blobBytes,
    acceptFormData,
  } satisfies Internals);
  define('require', requireLibrary);
  define('$mport', importLibrary);
  for (const [name, value] of Object.entries(timerGlobals)) {
    define(name, value);
  }
}

function forms(): typeof import('./node/form-data.ts') {
  return useLibrary('portico:form-data') as typeof import('./node/form-data.ts');
}

/** Made when it is first used. */
function defineLate(name: string, make: () => object): void {
  const get = () => {
    const value = make();
    Object.defineProperty(value, 'name', { value: name, configurable: true });
    define(name, value);
    return value;
  };
  const set = (value: unknown) => define(name, value);
  Object.defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false });
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
