import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from '@smithy/core/protocols';
import type { Exchanger } from './exchange.ts';
import { type Credentials, createSigner, queryString, type Sign } from './signature.ts';

/** The part of an SDK client that is looked at or changed. */
interface SdkClient {
  config: { region(): Promise<string>; credentials(): Promise<Credentials> };
  middlewareStack: { remove(name: string): boolean };
}

/** Layers that format logs for a logger that is not set, and tell services the name of the SDK. */
const idleLayers = ['loggerMiddleware', 'getUserAgentMiddleware'];

/**
 * A client of the SDK with our signer and transport, and its middleware put together once: for requests that
 * are no streams. Its calls are made without options; how long to wait is given to `within`.
 * @param service as a signature's scope names it
 * @param make gives the options to the client's constructor
 */
export function leanClient<Client extends SdkClient>(
  service: string,
  exchanger: Exchanger,
  make: (options: ReturnType<typeof leanOptions>) => Client,
): Client {
  const client: Client = make(leanOptions(service, exchanger, () => client.config));
  for (const name of idleLayers) client.middlewareStack.remove(name);
  return client;
}

/** @param configOf the client's own: it exists once the client does */
function leanOptions(service: string, exchanger: Exchanger, configOf: () => SdkClient['config']) {
  let sign: Sign | undefined;
  return {
    cacheMiddleware: true,
    signer: {
      async sign(request: HttpRequest): Promise<HttpRequest> {
        const config = configOf();
        sign ??= createSigner(service, await config.region());
        const headers = lowerCase(request.headers);
        const credentials = await config.credentials();
        const signature = sign({ ...request, headers, body: request.body ?? '' }, credentials, Date.now());
        request.headers = { ...headers, ...signature };
        return request;
      },
    },
    requestHandler: {
      async handle(request: HttpRequest) {
        const { protocol, hostname, port, method, headers, body } = request;
        const query = queryString(request.query);
        const path = query === '' ? request.path : `${request.path}?${query}`;
        const answerMs = limits.getStore();
        const exchange = { protocol, hostname, port, method, path, headers, body, answerMs };
        return { response: await exchanger.send(exchange) };
      },
      destroy: () => exchanger.close(),
    },
  };
}

const limits = new AsyncLocalStorage<number>();

/** Waits so long for each answer that `call` asks for. */
export function within<T>(answerMs: number, call: () => Promise<T>): Promise<T> {
  return limits.run(answerMs, call);
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
