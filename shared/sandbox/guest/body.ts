/** `Blob`, `Request` and `Response`: bodies are whole, there are no streams. */

import { type Content, contentBytes, contentText } from './content.ts';
import { bytesOf } from './encoding.ts';
import { GuestHeaders } from './headers.ts';
import { parseJson } from './primordials.ts';
import { GuestSearchParams } from './search-params.ts';
import { utf8Text } from './utf8.ts';

type ReadForm = (body: object) => { content: Content; type: string } | undefined;
let readForm: ReadForm | undefined;

/** There is a class FormData only from the moment that a Bot uses it. */
export function acceptFormData(read: ReadForm): void {
  readForm = read;
}

/** The content of a `body` option and the content type that goes with it. */
function readBody(body: unknown): { content: Content | undefined; type: string | undefined } {
  if (body === undefined || body === null) {
    return { content: undefined, type: undefined };
  }
  if (body instanceof GuestBlob) {
    return { content: { bytes: blobBytes(body) }, type: body.type || undefined };
  }
  if (body instanceof GuestSearchParams) {
    return { content: { text: body.toString() }, type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
    return { content: { bytes: bytesOf(body).slice() }, type: undefined };
  }
  return (
    (typeof body === 'object' ? readForm?.(body) : undefined) ?? {
      content: { text: `${body}` },
      type: 'text/plain;charset=UTF-8',
    }
  );
}

export class GuestBlob {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;

  constructor(parts: Iterable<unknown> = [], options: { type?: string } = {}) {
    const pieces = [...parts].map((part) => contentBytes(readBody(part).content ?? { text: '' }));
    this.#bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    pieces.reduce((at, piece) => {
      this.#bytes.set(piece, at);
      return at + piece.length;
    }, 0);
    this.type = `${options.type ?? ''}`.toLowerCase();
  }

  get size(): number {
    return this.#bytes.length;
  }

  slice(start?: number, end?: number, type?: string): GuestBlob {
    return new GuestBlob([this.#bytes.slice(start, end)], { type: type ?? '' });
  }

  async text(): Promise<string> {
    return utf8Text(this.#bytes);
  }

  async bytes(): Promise<Uint8Array> {
    return this.#bytes.slice();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  static bytesOf(blob: GuestBlob): Uint8Array<ArrayBuffer> {
    return blob.#bytes;
  }
}

export const blobBytes = GuestBlob.bytesOf;

class Message {
  readonly headers: GuestHeaders;
  bodyUsed = false;
  readonly #content: Content | undefined;

  constructor(content: Content | undefined, headers: GuestHeaders) {
    this.#content = content;
    this.headers = headers;
  }

  async text(): Promise<string> {
    return contentText(this.#take());
  }

  async json(): Promise<unknown> {
    return parseJson(contentText(this.#take()));
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return contentBytes(this.#take());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return contentBytes(this.#take()).buffer;
  }

  async blob(): Promise<GuestBlob> {
    return new GuestBlob([contentBytes(this.#take())], { type: this.headers.get('content-type') ?? '' });
  }

  #take(): Content {
    if (this.bodyUsed) {
      throw new TypeError('The body has already been read');
    }
    this.bodyUsed = this.#content !== undefined;
    return this.#content ?? { text: '' };
  }

  static contentOf(message: Message): Content | undefined {
    return message.#content;
  }
}

export const contentOf = Message.contentOf;

export interface RequestInit {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  redirect?: unknown;
  signal?: unknown;
}

export class GuestRequest extends Message {
  readonly url: string;
  readonly method: string;
  readonly redirect: string;
  readonly signal: unknown;

  constructor(input: unknown, init: RequestInit = {}) {
    const from = input instanceof GuestRequest ? input : undefined;
    const { content, type } = readBody(init.body);
    const headers = new GuestHeaders(init.headers ?? from?.headers);
    if (type !== undefined && !headers.has('content-type')) {
      headers.set('content-type', type);
    }
    super(content ?? (from === undefined ? undefined : contentOf(from)), headers);
    this.url = from === undefined ? `${input}` : from.url;
    this.method = `${init.method ?? from?.method ?? 'GET'}`.toUpperCase();
    this.redirect = `${init.redirect ?? from?.redirect ?? 'follow'}`;
    this.signal = init.signal ?? from?.signal;
  }
}

export class GuestResponse extends Message {
  readonly status: number;
  readonly statusText: string;
  readonly url: string = '';
  readonly redirected: boolean = false;
  readonly type: string = 'default';

  constructor(body?: unknown, init: { status?: number; statusText?: string; headers?: unknown } = {}) {
    const { content, type } = readBody(body);
    const headers = new GuestHeaders(init.headers);
    if (type !== undefined && !headers.has('content-type')) {
      headers.set('content-type', type);
    }
    super(content, headers);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? '';
  }

  static json(value: unknown, init: { status?: number; headers?: unknown } = {}): GuestResponse {
    const headers = new GuestHeaders(init.headers);
    headers.set('content-type', 'application/json');
    return new GuestResponse(JSON.stringify(value), { ...init, headers });
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }
}
