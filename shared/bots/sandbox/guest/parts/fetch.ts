/**
 * `fetch` and what belongs to it. Bodies are whole, there are no streams. A request goes to the host as strings, and
 * the host decides where it may go.
 */

import { call, operations, parseJson, stringifyJson, text } from '../primordials.ts';
import type { AbortSignal } from './dom.ts';
import { base64Bytes, base64Text, bytesOf, joined, utf8Bytes, utf8Text } from './encoding.ts';
import { Pairs, pairsOf, URL, URLSearchParams } from './url.ts';

type Bytes = Uint8Array<ArrayBuffer>;
/** Text stays text as long as nobody asks for bytes: most bodies are never anything else. */
type Content = string | Bytes;

const contentText = (content: Content) =>
  (typeof content === 'string' ? content : utf8Text(content)).replace(/^\ufeff/, '');
const contentBytes = (content: Content) =>
  typeof content === 'string' ? utf8Bytes(content) : content.slice();

function headerName(name: unknown): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(`${name}`)) {
    throw new TypeError(`Invalid header name: ${`${name}`.slice(0, 100)}`);
  }
  return `${name}`.toLowerCase();
}

function headerValue(value: unknown): string {
  const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (/[\0\n\r]|[^\0-\xff]/.test(text)) throw new TypeError('Invalid character in a header value');
  return text;
}

/** Names are kept in lower case; values may hold no line ends. */
export class Headers extends Pairs<string> {
  constructor(init?: unknown) {
    super({ name: headerName, value: headerValue });
    for (const [name, value] of pairsOf(Object(init ?? {}))) this.append(name, value);
  }

  override get(name: unknown): string | null {
    return this.has(name) ? this.getAll(name).join(', ') : null;
  }

  getSetCookie(): string[] {
    return this.getAll('set-cookie');
  }

  override *entries(): IterableIterator<[string, string]> {
    const names = new Set([...super.entries()].map(([name]) => name));
    for (const name of [...names].sort()) {
      const values = this.getAll(name);
      for (const value of name === 'set-cookie' ? values : [values.join(', ')]) yield [name, value];
    }
  }
}

let blobBytes: (blob: Blob) => Bytes;

export class Blob {
  readonly #bytes: Bytes;
  readonly type: string;

  constructor(parts: Iterable<unknown> = [], options: { type?: string } = {}) {
    this.#bytes = joined([...parts].map((part) => contentBytes(readBody(part).content ?? '')));
    this.type = `${options.type ?? ''}`.toLowerCase();
  }

  get size(): number {
    return this.#bytes.length;
  }

  slice(start?: number, end?: number, type?: string): Blob {
    return new Blob([this.#bytes.slice(start, end)], { type: type ?? '' });
  }

  async text(): Promise<string> {
    return utf8Text(this.#bytes);
  }

  async bytes(): Promise<Bytes> {
    return this.#bytes.slice();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  static {
    blobBytes = (blob) => blob.#bytes;
  }
}

export class File extends Blob {
  readonly name: string;
  readonly lastModified: number;

  constructor(
    parts: Iterable<unknown>,
    name: unknown,
    options: { type?: string; lastModified?: number } = {},
  ) {
    super(parts, options);
    this.name = `${name}`;
    this.lastModified = options.lastModified ?? Date.now();
  }
}

export class FormData extends Pairs<string | File> {
  constructor() {
    super({ name: (name) => `${name}`.toWellFormed(), value: formValue });
  }
}

function formValue(value: unknown, filename?: unknown): string | File {
  if (!(value instanceof Blob)) return `${value}`.toWellFormed();
  if (value instanceof File && filename === undefined) return value;
  return new File([value], filename ?? 'blob', { type: value.type });
}

/** A body of parts with a random boundary (multipart/form-data, RFC 7578). */
function formBody(form: FormData): Body {
  const boundary = `----form-${crypto.randomUUID()}`;
  const parts = [...form].flatMap(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === 'string') {
      return [utf8Bytes(`${head}\r\n\r\n${value.replace(/\r\n|\r|\n/g, '\r\n')}\r\n`)];
    }
    const type = value.type.replace(/[\r\n]/g, '') || 'application/octet-stream';
    const more = `; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    return [utf8Bytes(head + more), blobBytes(value), utf8Bytes('\r\n')];
  });
  const content = joined([...parts, utf8Bytes(`--${boundary}--\r\n`)]);
  return { content, type: `multipart/form-data; boundary=${boundary}` };
}

/** As browsers do: a name must not end its header. */
function quoted(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '%0D%0A').replaceAll('"', '%22');
}

interface Body {
  content?: Content;
  /** The content type that goes with it. */
  type?: string;
}

function readBody(body: unknown): Body {
  if (body === undefined || body === null) return {};
  if (body instanceof Blob) return { content: blobBytes(body), type: body.type };
  if (body instanceof FormData) return formBody(body);
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { content: bytesOf(body).slice() };
  const isQuery = body instanceof URLSearchParams;
  return {
    content: `${body}`,
    type: isQuery ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'text/plain;charset=UTF-8',
  };
}

let contentOf: (message: Message) => Content | undefined;

class Message {
  readonly headers: Headers;
  bodyUsed = false;
  readonly #content: Content | undefined;

  constructor({ content, type }: Body, headers: unknown) {
    this.#content = content;
    this.headers = new Headers(headers);
    if (type && !this.headers.has('content-type')) this.headers.set('content-type', type);
  }

  async text(): Promise<string> {
    return contentText(this.#take());
  }

  async json(): Promise<unknown> {
    return parseJson(contentText(this.#take()));
  }

  async bytes(): Promise<Bytes> {
    return contentBytes(this.#take());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return contentBytes(this.#take()).buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([contentBytes(this.#take())], { type: this.headers.get('content-type') ?? '' });
  }

  #take(): Content {
    if (this.bodyUsed) throw new TypeError('The body has already been read');
    this.bodyUsed = this.#content !== undefined;
    return this.#content ?? '';
  }

  static {
    contentOf = (message) => message.#content;
  }
}

type RequestInit = Partial<Record<'method' | 'headers' | 'body' | 'redirect' | 'signal', unknown>>;

export class Request extends Message {
  readonly url: string;
  readonly method: string;
  readonly redirect: string;
  readonly signal: unknown;

  constructor(input: unknown, init: RequestInit = {}) {
    const from = input instanceof Request ? input : undefined;
    const body = readBody(init.body);
    const content = body.content ?? (from && contentOf(from));
    super({ ...body, ...(content !== undefined && { content }) }, init.headers ?? from?.headers);
    this.url = from === undefined ? `${input}` : from.url;
    this.method = `${init.method ?? from?.method ?? 'GET'}`.toUpperCase();
    this.redirect = `${init.redirect ?? from?.redirect ?? 'follow'}`;
    this.signal = init.signal ?? from?.signal;
  }
}

type ResponseInit = { status?: number; statusText?: string; headers?: unknown };

export class Response extends Message {
  readonly status: number;
  readonly statusText: string;
  readonly url: string = '';
  readonly redirected: boolean = false;
  readonly type: string = 'default';

  constructor(body?: unknown, init: ResponseInit = {}) {
    super(readBody(body), init.headers);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? '';
  }

  static json(value: unknown, init: ResponseInit = {}): Response {
    const headers = new Headers(init.headers);
    headers.set('content-type', 'application/json');
    return new Response(JSON.stringify(value), { ...init, headers });
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }
}

type Waiting = Pick<PromiseWithResolvers<Response>, 'resolve' | 'reject'>;
const waiting = new Map<string, Waiting>();
let lastId = 0;

export async function fetch(input: unknown, init?: RequestInit): Promise<Response> {
  const request = new Request(input instanceof URL ? input.href : input, init ?? {});
  const signal = request.signal as AbortSignal | null | undefined;
  signal?.throwIfAborted();
  lastId += 1;
  const id = text(lastId);
  const { promise, ...one } = Promise.withResolvers<Response>();
  waiting.set(id, one);
  const onAbort = () => {
    call('abort', id);
    settle(id, ({ reject }) => reject(signal?.reason));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  const { url, method, redirect, headers } = request;
  const head = stringifyJson({ url, method, redirect, headers: [...headers] });
  const content = contentOf(request);
  const refused =
    typeof content === 'object'
      ? call('fetch', id, head, 'base64', base64Text(content))
      : call('fetch', id, head, content === undefined ? '' : 'utf8', content?.toWellFormed());
  if (refused !== undefined) settle(id, ({ reject }) => reject(new TypeError(refused)));
  return promise;
}

function settle(id: string, how: (one: Waiting) => void): void {
  const one = waiting.get(id);
  waiting.delete(id);
  if (one) how(one);
}

/** `head` is JSON of url, status, statusText, headers and redirected. A fetch without an answer ends in a TypeError. */
Object.assign(operations, {
  fetched(id: string, head: string, encoding: string, body: string) {
    const { url, redirected, headers, ...init } = parseJson(head);
    const response = new Response(encoding === 'base64' ? base64Bytes(body) : body, init);
    Object.defineProperties(response, {
      headers: { value: new Headers(headers), enumerable: true },
      url: { value: url, enumerable: true },
      redirected: { value: redirected, enumerable: true },
      type: { value: 'basic', enumerable: true },
    });
    settle(id, (one) => one.resolve(response));
  },
  'fetch-failed'(id: string, message: string) {
    settle(id, (one) => one.reject(new TypeError(message)));
  },
});
