/** `undici`, as far as it is the web's: these are the globals. */

export const { fetch, Headers, Request, Response, FormData, File, AbortController } = globalThis;
