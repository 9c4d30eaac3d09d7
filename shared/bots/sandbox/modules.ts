/** The scripts that are loaded into an isolate when they are first asked for: what a Bot may import, and parts of ours. */

/** Of Node, also as `node:` and the name. */
export const nodeModules = ['buffer', 'crypto', 'events', 'querystring', 'url', 'util'] as const;

/** Packages whose `fetch` is ours. */
export const fetchPackages = ['node-fetch', 'undici'] as const;

/** What of the global scope beside the language is in which script: files of `guest/parts/`. */
export const parts = {
  hl7: [],
  web: [
    ...['AbortController', 'AbortSignal', 'Event', 'EventTarget', 'structuredClone'],
    ...['Buffer', 'TextDecoder', 'TextEncoder', 'atob', 'btoa', 'crypto', 'URL', 'URLSearchParams'],
    ...['Blob', 'File', 'FormData', 'Headers', 'Request', 'Response', 'fetch'],
  ],
} as const;

/** No Bot can import one. */
export type PartName = `portico:${keyof typeof parts}`;
export const partNames = Object.keys(parts).map((name) => `portico:${name}` as PartName);

/** Digests that the host computes, as node:crypto names them. */
export const hashes: readonly string[] = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];

/** What the host tells of a URL. */
export const urlParts = [
  ...(['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname'] as const),
  ...(['search', 'hash', 'origin'] as const),
];

/** Beside the libraries. */
export type ModuleName = (typeof nodeModules)[number] | (typeof fetchPackages)[number] | PartName;
export const moduleNames: readonly ModuleName[] = [...nodeModules, ...fetchPackages, ...partNames];

/** The client alone, for Bots that do not name the whole library; no Bot can load it. */
export const clientLibrary = 'portico:medplum-client';

export const scriptNames: readonly string[] = [
  ...['portico:runtime', clientLibrary, '@medplum/core', 'hl7-standard', ...moduleNames],
];

/** Of the folder that infra/guest/build.ts makes. */
export function scriptFile(name: string): string {
  return `${name.replace(/^@/, '').replace(/\W+/g, '-')}.js`;
}

/** Node's modules have two names. */
export function plainName(specifier: string): string {
  const name = specifier.replace(/^node:/, '');
  return nodeModules.some((known) => known === name) ? name : specifier;
}

const withoutSubstitute =
  /^(?:node:)?(?:fs|net|tls|dgram|dns|http|https|http2|child_process|worker_threads|cluster|os|process|vm|v8|inspector|repl|readline|tty|zlib|stream)(?:\/|$)/;

/** The error for an import that Bots do not have. */
export function missingModule(specifier: string): string {
  return `Cannot import '${specifier.slice(0, 200)}': ${whatToDo(specifier)}`;
}

function whatToDo(specifier: string): string {
  if (/^\.{0,2}\//.test(specifier)) return 'a Bot is one file: bundle what it imports into it';
  if (withoutSubstitute.test(specifier)) {
    return 'a Bot has no files, sockets or processes; fetch is there for HTTP';
  }
  return 'it is not among the modules of a Bot (docs/bots.md): bundle it into the file';
}
