/** `node-fetch` and `undici`, as far as they are the web's: our fetch, under all the names by which it is imported. */

export const { AbortController, Headers, Request, Response, FormData, Blob, File } = globalThis;

/** Never thrown here: our fetch rejects with a TypeError, as the web's does. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
}

export class AbortError extends Error {
  override readonly name = 'AbortError';
  readonly type = 'aborted';
}

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export const fetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** A separate function, so that properties set on it do not change the global one. */
const nodeFetch: Fetch = (input, init) => globalThis.fetch(input, init);

// biome-ignore lint/style/noDefaultExport: it is what node-fetch is imported for
export default nodeFetch;
