/**
 * The Bot's `medplum`: the real MedplumClient, made when the Bot first touches it. Its requests go
 * through the host, which alone knows the token.
 */

import { guestFetch } from './fetch.ts';
import { useLibrary } from './require.ts';

/** No JWT: the client never looks at its age and never tries to refresh it. */
const PLACEHOLDER = 'the-host-adds-the-token';

type Client = Record<string | symbol, unknown>;
type Core = { MedplumClient: new (options: object) => Client };

/**
 * Without `baseUrl` every use throws an Error that says why. `library` has the class MedplumClient: the one that
 * the Bot itself may load, so that the errors of the client are instances of the Bot's classes.
 */
export function lazyMedplum(baseUrl: string | undefined, library: string): object {
  let client: Client | undefined;
  const real = (): Client => {
    if (baseUrl === undefined) {
      throw new Error('medplum is not available: this run has no access to the API');
    }
    const { MedplumClient } = useLibrary(library) as Core;
    client ??= new MedplumClient({ baseUrl, fetch: guestFetch, accessToken: PLACEHOLDER });
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
