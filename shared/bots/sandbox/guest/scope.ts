/** The global scope of a Bot, `require` and `import()`: libraries and parts of ours are loaded when they are first used. */

import { missingModule, moduleNames, parts, plainName } from '../modules.ts';
import { call, defineProperty, now, operations, startsWith, text } from './primordials.ts';
import { timerGlobals } from './timers.ts';

/** `require` is the Bot's for a library; a script of ours may load parts too. */
type Load = (module: { exports: unknown }, exports: unknown, require: (name: string) => unknown) => void;

/** WebAssembly's memory escapes the isolate's limit; shared memory has no use here but for attacks. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'];

export class DOMException extends Error {
  override readonly name: string;

  constructor(message = '', name = 'Error') {
    super(message);
    this.name = name;
  }
}

/** `@medplum/fhirtypes` holds types only: there is nothing of it at run time. */
const loaded = new Map<string, unknown>([['@medplum/fhirtypes', {}]]);
const preloaded = new Map<string, unknown>();
let arrived: Load | undefined;

/** `runtime`: what the scripts of ours import from this one. */
export function installGlobals(runtime: object, log: object): void {
  loaded.set('portico:runtime', runtime);
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const began = now();
  const all = {
    ...timerGlobals,
    DOMException,
    console: log,
    performance: { now: () => now() - began, timeOrigin: began },
    self: globalThis,
    global: globalThis,
    require: requireLibrary,
    $mport: importLibrary,
  };
  for (const [name, value] of Object.entries(all)) define(name, value);
  for (const [part, names] of Object.entries(parts)) {
    for (const name of names) {
      const get = () => {
        const value = usePart<Record<string, unknown>>(`portico:${part}`)[name];
        // The bundler has given some classes another.
        if (typeof value === 'function') defineProperty(value, 'name', { value: name, configurable: true });
        return define(name, value);
      };
      const set = (value: unknown) => void define(name, value);
      defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false });
    }
  }
}

function define(name: string, value: unknown): unknown {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  return value;
}

/** The host hands in a library's function while `load` waits for it. */
operations.library = (load: Load) => {
  arrived = load;
};

/** Loads a library that the Bot will probably require: the last one in this process did. */
operations.preload = (id: string) => {
  // Another one may have needed it: a second copy of `fetch` would take the answers of the first.
  if (!loaded.has(id) && !preloaded.has(id)) preloaded.set(id, load(id));
};

/** What a Bot calls: throws an Error with code MODULE_NOT_FOUND for every other name. */
export function requireLibrary(name: unknown): unknown {
  const called = text(name);
  const id = plainName(called);
  return useLibrary(startsWith(id, 'portico:') ? '' : id, called);
}

const namespaces = new Map<unknown, object>();

/** What `import()` becomes when a Bot is deployed: child/compiler.ts. */
async function importLibrary(name: unknown): Promise<object> {
  const library = requireLibrary(name);
  const namespace = namespaces.get(library) ?? Object.freeze({ ...(library as object), default: library });
  namespaces.set(library, namespace);
  return namespace;
}

/** A part of ours, or the library of the client; `Part` is its type. */
export function usePart<Part>(name: string): Part {
  return useLibrary(name) as Part;
}

function useLibrary(id: string, called = id): unknown {
  if (!loaded.has(id)) {
    // The host is told of a preloaded one that is used.
    if (preloaded.has(id)) call('load', id, 'preloaded');
    loaded.set(id, preloaded.get(id) ?? load(id, called));
  }
  return loaded.get(id);
}

function load(id: string, called = id): unknown {
  arrived = undefined;
  if (call('load', id) !== 'loaded' || arrived === undefined) {
    throw Object.assign(new Error(missingModule(called)), { code: 'MODULE_NOT_FOUND' });
  }
  const module = { exports: {} as unknown };
  const isOurs = moduleNames.some((own) => own === id);
  (arrived as Load)(module, module.exports, isOurs ? useLibrary : requireLibrary);
  return module.exports;
}

/** No JWT: the client never looks at its age and never tries to refresh it. */
const PLACEHOLDER = 'the-host-adds-the-token';

type Client = Record<string | symbol, unknown>;
type Core = { MedplumClient: new (options: object) => Client };

/**
 * The Bot's `medplum`: the real MedplumClient, made when the Bot first touches it. Its requests go through the host,
 * which alone knows the token.
 * Without `baseUrl` every use throws an Error that says why. `library` has the class MedplumClient: the one that
 * the Bot itself may load, so that the errors of the client are instances of the Bot's classes.
 */
export function lazyMedplum(baseUrl: string | undefined, library: string): object {
  let client: Client | undefined;
  const real = (): Client => {
    if (baseUrl === undefined) throw new Error('medplum is not available: this run has no access to the API');
    const { fetch } = usePart<{ fetch: unknown }>('portico:web');
    const { MedplumClient } = usePart<Core>(library);
    client ??= new MedplumClient({ baseUrl, fetch, accessToken: PLACEHOLDER });
    return client;
  };
  return new Proxy(
    {},
    {
      get: (_, key) => (inert(key) ? undefined : method(real(), key)),
      set: (_, key, value) => Reflect.set(real(), key, value),
      has: (_, key) => Reflect.has(real(), key),
      getPrototypeOf: () => Reflect.getPrototypeOf(real()),
      getOwnPropertyDescriptor: (_, key) => {
        const field = inert(key) ? undefined : Reflect.getOwnPropertyDescriptor(real(), key);
        return field && { ...field, configurable: true };
      },
      ownKeys: () => Reflect.ownKeys(real()),
      deleteProperty: (_, key) => Reflect.deleteProperty(real(), key),
    },
  );
}

/** What `await`, `JSON.stringify` and templates look for must not make a client nor throw. */
function inert(key: string | symbol): boolean {
  return key === 'then' || key === 'toJSON' || typeof key === 'symbol';
}

function method(client: Client, key: string | symbol): unknown {
  const value = Reflect.get(client, key, client);
  return typeof value === 'function' && key !== 'constructor' ? value.bind(client) : value;
}
