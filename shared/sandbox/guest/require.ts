/** `require`, and what `import` of a library is made from: the libraries and modules that there are. */

import { missingModule } from '../missing-module.ts';
import { moduleNames, plainName } from '../modules.ts';
import { call } from './host.ts';
import { startsWith, text } from './primordials.ts';

/** `rest` is `require` for a library, and for a module of our own what it is made from. */
type Load = (module: { exports: unknown }, exports: unknown, rest: unknown) => void;

/** `@medplum/fhirtypes` holds types only: there is nothing of it at run time. */
const loaded = new Map<string, unknown>([['@medplum/fhirtypes', {}]]);
const preloaded = new Map<string, unknown>();
let arrived: Load | undefined;
let internals: object | undefined;

/** What modules of our own are made from: guest/node/internals.ts. */
export function provideInternals(parts: object): void {
  internals = parts;
}

/** The host hands in a library's function while `requireLibrary` waits for it. */
export function receiveLibrary(load: Load): void {
  arrived = load;
}

/** Loads a library that the Bot will probably require: the last one in this process did. */
export function preloadLibrary(id: string): void {
  preloaded.set(id, load(id));
}

/** What a Bot calls: throws an Error with code MODULE_NOT_FOUND for every other name. */
export function requireLibrary(name: unknown): unknown {
  const called = text(name);
  const id = plainName(called);
  return useLibrary(startsWith(id, 'portico:') ? '' : id, called);
}

const namespaces = new Map<unknown, object>();

/** What `import()` becomes when a Bot is deployed: compiler/read-module.ts. */
export async function importLibrary(name: unknown): Promise<object> {
  const library = requireLibrary(name);
  const namespace = namespaces.get(library) ?? Object.freeze({ ...(library as object), default: library });
  namespaces.set(library, namespace);
  return namespace;
}

/** Libraries of our own are asked for here. */
export function useLibrary(id: string, called = id): unknown {
  if (!loaded.has(id)) {
    loaded.set(id, preloaded.has(id) ? usePreloaded(id) : load(id, called));
  }
  return loaded.get(id);
}

function usePreloaded(id: string): unknown {
  call('load', id, 'preloaded');
  return preloaded.get(id);
}

function load(id: string, called = id): unknown {
  arrived = undefined;
  if (call('load', id) !== 'loaded' || arrived === undefined) {
    throw Object.assign(new Error(missingModule(called)), { code: 'MODULE_NOT_FOUND' });
  }
  const module = { exports: {} as unknown };
  const isOurs = moduleNames.some((own) => own === id);
  (arrived as Load)(module, module.exports, isOurs ? internals : requireLibrary);
  return module.exports;
}
