/** `node-fetch`: our fetch, under all the names by which it is imported. */

export const { Headers, Request, Response, FormData, Blob, File } = globalThis;

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

/** A separate function, so that properties set on it do not change the global one. */
// biome-ignore lint/style/noDefaultExport: it is what this package is imported for
export default function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return globalThis.fetch(input, init);
}
