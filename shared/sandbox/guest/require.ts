/** `require`, and what `import` of a library is made from: two libraries and nothing else. */

import { call } from './host.ts';
import { startsWith, text } from './primordials.ts';

type Load = (module: { exports: unknown }, exports: unknown, require: (name: unknown) => unknown) => void;

/** `@medplum/fhirtypes` holds types only: there is nothing of it at run time. */
const loaded = new Map<string, unknown>([['@medplum/fhirtypes', {}]]);
const preloaded = new Map<string, unknown>();
let arrived: Load | undefined;

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
  const id = text(name);
  return useLibrary(startsWith(id, 'portico:') ? '' : id, id);
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
    const message = `Cannot find module '${called}': a Bot may use @medplum/core and hl7-standard only`;
    throw Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' });
  }
  const module = { exports: {} as unknown };
  (arrived as Load)(module, module.exports, requireLibrary);
  return module.exports;
}
