import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../files.ts';

/** What a Bot finds beside the language (docs/bots.md), as the editor's compiler reads it. */
const botGlobals = `
interface Console {
  log(...values: unknown[]): void; info(...values: unknown[]): void; debug(...values: unknown[]): void;
  warn(...values: unknown[]): void; error(...values: unknown[]): void; trace(...values: unknown[]): void;
  dir(value: unknown): void; table(value: unknown): void; assert(condition: unknown, ...values: unknown[]): void;
  time(label?: string): void; timeEnd(label?: string): void; timeLog(label?: string, ...values: unknown[]): void;
  group(...values: unknown[]): void; groupEnd(): void; count(label?: string): void; countReset(label?: string): void;
}
declare var console: Console;
declare var global: typeof globalThis;
declare var self: typeof globalThis;
declare var module: { exports: any };
declare var exports: any;
declare function require(name: string): any;
declare function setTimeout(run: (...values: any[]) => void, ms?: number, ...values: any[]): number;
declare function setInterval(run: (...values: any[]) => void, ms?: number, ...values: any[]): number;
declare function setImmediate(run: (...values: any[]) => void, ...values: any[]): number;
declare function clearTimeout(id: number | undefined): void;
declare function clearInterval(id: number | undefined): void;
declare function clearImmediate(id: number | undefined): void;
declare function queueMicrotask(run: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare var performance: { now(): number; readonly timeOrigin: number };
declare class Event { constructor(type: string, init?: object); readonly type: string }
declare class EventTarget {
  addEventListener(type: string, listener: (event: Event) => void, options?: object | boolean): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
  dispatchEvent(event: Event): boolean;
}
declare class AbortSignal extends EventTarget {
  static timeout(ms: number): AbortSignal; static any(signals: AbortSignal[]): AbortSignal;
  static abort(reason?: unknown): AbortSignal;
  readonly aborted: boolean; readonly reason: any; throwIfAborted(): void;
}
declare class AbortController { readonly signal: AbortSignal; abort(reason?: unknown): void }
declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]> | URLSearchParams);
  append(name: string, value: string): void; delete(name: string, value?: string): void;
  get(name: string): string | null; getAll(name: string): string[]; has(name: string, value?: string): boolean;
  set(name: string, value: string): void; sort(): void; toString(): string; readonly size: number;
  forEach(run: (value: string, name: string) => void): void;
  entries(): IterableIterator<[string, string]>; keys(): IterableIterator<string>; values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string, base?: string): boolean; static parse(url: string, base?: string): URL | null;
  href: string; protocol: string; username: string; password: string; host: string; hostname: string; port: string;
  pathname: string; search: string; hash: string; readonly origin: string; readonly searchParams: URLSearchParams;
  toString(): string; toJSON(): string;
}
type BodyInit = string | ArrayBuffer | ArrayBufferView | Blob | FormData | URLSearchParams;
type HeadersInit = Headers | Record<string, string> | [string, string][];
interface RequestInit {
  method?: string; headers?: HeadersInit; body?: BodyInit | null; signal?: AbortSignal | null;
  redirect?: 'follow' | 'error' | 'manual'; credentials?: string; mode?: string; cache?: string;
}
interface ResponseInit { status?: number; statusText?: string; headers?: HeadersInit }
declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void; delete(name: string): void; get(name: string): string | null;
  has(name: string): boolean; set(name: string, value: string): void; getSetCookie(): string[];
  forEach(run: (value: string, name: string) => void): void;
  entries(): IterableIterator<[string, string]>; keys(): IterableIterator<string>; values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
interface Body {
  readonly bodyUsed: boolean; text(): Promise<string>; json(): Promise<any>; arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>; bytes(): Promise<Uint8Array>; formData(): Promise<FormData>;
}
interface Request extends Body { readonly url: string; readonly method: string; readonly headers: Headers }
declare var Request: { new (input: string | URL | Request, init?: RequestInit): Request };
interface Response extends Body {
  readonly ok: boolean; readonly status: number; readonly statusText: string; readonly headers: Headers;
  readonly url: string; readonly redirected: boolean; clone(): Response;
}
declare var Response: {
  new (body?: BodyInit | null, init?: ResponseInit): Response; json(value: unknown, init?: ResponseInit): Response;
};
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
declare class Blob {
  constructor(parts?: (string | ArrayBuffer | ArrayBufferView | Blob)[], options?: { type?: string });
  readonly size: number; readonly type: string; text(): Promise<string>; arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>; slice(start?: number, end?: number, type?: string): Blob;
}
declare class File extends Blob {
  constructor(parts: (string | ArrayBuffer | ArrayBufferView | Blob)[], name: string, options?: object);
  readonly name: string; readonly lastModified: number;
}
declare class FormData {
  append(name: string, value: string | Blob, filename?: string): void; delete(name: string): void;
  get(name: string): string | File | null; getAll(name: string): (string | File)[]; has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
  [Symbol.iterator](): IterableIterator<[string, string | File]>;
}
declare class TextEncoder { encode(text?: string): Uint8Array; readonly encoding: string }
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string; readonly encoding: string;
}
interface Buffer extends Uint8Array {
  toString(encoding?: string, start?: number, end?: number): string; equals(other: Uint8Array): boolean;
  [name: string]: any;
}
declare var Buffer: {
  from(value: string | ArrayBuffer | ArrayLike<number>, encoding?: string): Buffer;
  alloc(size: number, fill?: string | number): Buffer; concat(parts: readonly Uint8Array[], length?: number): Buffer;
  byteLength(text: string, encoding?: string): number; isBuffer(value: unknown): value is Buffer;
};
declare var crypto: { randomUUID(): string; getRandomValues<T extends ArrayBufferView>(into: T): T; subtle: any };
declare namespace NodeJS { interface WritableStream { write(chunk: string | Uint8Array): boolean; end(): void } }
${['crypto', 'buffer', 'events', 'querystring', 'url', 'util']
  .flatMap((name) => [`declare module '${name}';`, `declare module 'node:${name}';`])
  .join('\n')}
declare module 'node-fetch';
declare module 'undici';
`;

/**
 * What the editor's compiler knows, as one file of the app: a JSON object of texts by path. The language's own
 * libraries, the declarations of `@medplum/core` and `@medplum/fhirtypes`, HL7 messages, and a Bot's globals.
 * @returns a name made from its content, below the app
 */
export async function declarations(): Promise<{ fileName: string; source: string }> {
  const source = JSON.stringify(await texts());
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return { fileName: `assets/declarations-${hash}.json`, source };
}

async function texts(): Promise<Record<string, string>> {
  const medplum = 'node_modules/@medplum';
  return {
    '/bot-globals.d.ts': botGlobals,
    ...(await libraries('lib.es2025.d.ts')),
    '/node_modules/@medplum/core/index.d.ts': await read(`${medplum}/core/dist/esm/index.d.ts`),
    ...(await folder(`${medplum}/fhirtypes/dist`, '/node_modules/@medplum/fhirtypes', /\.d\.ts$/)),
    ...(await folder('shared/bots/hl7', '/shared/bots/hl7', /\.ts$/)),
  };
}

/** A library of the language with those that it refers to. */
async function libraries(file: string): Promise<Record<string, string>> {
  const text = await read(`node_modules/typescript-in-browser/lib/${file}`);
  const named = [...text.matchAll(/^\/\/\/ <reference lib="([\w.]+)" \/>/gm)].map(
    ([, lib]) => `lib.${lib}.d.ts`,
  );
  const others = await Promise.all(named.map(libraries));
  return Object.assign({ [`/lib/${file}`]: text }, ...others);
}

async function folder(from: string, to: string, wanted: RegExp): Promise<Record<string, string>> {
  const files = (await readdir(join(root, from))).filter((file) => wanted.test(file)).sort();
  const texts = await Promise.all(files.map(async (file) => [`${to}/${file}`, await read(join(from, file))]));
  return Object.fromEntries(texts);
}

/** Without the licence at its top, which the package has once. */
async function read(path: string): Promise<string> {
  const text = await readFile(join(root, path), 'utf8');
  return text.replace(/^\/\*(?!\*)[\s\S]*?\*\/\s*/, '');
}
