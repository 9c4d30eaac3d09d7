/** `FormData` and `File`, and the body that a form becomes (multipart/form-data, RFC 7578). */

import type { GuestBlob } from '../body.ts';
import { internals } from './internals.ts';

type Value = string | GuestFile;

const { Blob, blobBytes, utf8Bytes } = internals;

export class GuestFile extends (Blob ?? Object) {
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

export class GuestFormData {
  #entries: [name: string, value: Value][] = [];

  append(name: unknown, value: unknown, filename?: unknown): void {
    this.#entries.push(entry(name, value, filename));
  }

  set(name: unknown, value: unknown, filename?: unknown): void {
    const made = entry(name, value, filename);
    const at = this.#entries.findIndex(([known]) => known === made[0]);
    if (at < 0) {
      this.#entries.push(made);
      return;
    }
    this.#entries = this.#entries.filter(([known], index) => index <= at || known !== made[0]);
    this.#entries[at] = made;
  }

  delete(name: unknown): void {
    this.#entries = this.#entries.filter(([known]) => known !== `${name}`);
  }

  get(name: unknown): Value | null {
    return this.#entries.find(([known]) => known === `${name}`)?.[1] ?? null;
  }

  getAll(name: unknown): Value[] {
    return this.#entries.filter(([known]) => known === `${name}`).map(([, value]) => value);
  }

  has(name: unknown): boolean {
    return this.#entries.some(([known]) => known === `${name}`);
  }

  forEach(run: (value: Value, name: string, form: this) => void): void {
    for (const [name, value] of this.#entries) {
      run(value, name, this);
    }
  }

  *entries(): IterableIterator<[string, Value]> {
    yield* this.#entries.map(([name, value]): [string, Value] => [name, value]);
  }

  *keys(): IterableIterator<string> {
    yield* this.#entries.map(([name]) => name);
  }

  *values(): IterableIterator<Value> {
    yield* this.#entries.map(([, value]) => value);
  }

  [Symbol.iterator](): IterableIterator<[string, Value]> {
    return this.entries();
  }
}

function entry(name: unknown, value: unknown, filename: unknown): [string, Value] {
  if (!(value instanceof Blob)) {
    return [`${name}`.toWellFormed(), `${value}`.toWellFormed()];
  }
  const isNamed = value instanceof GuestFile && filename === undefined;
  const file = isNamed ? value : new GuestFile([value], filename ?? 'blob', { type: value.type });
  return [`${name}`.toWellFormed(), file];
}

/** The form as a body: parts with random boundaries. */
function bodyOf(form: GuestFormData): { content: { bytes: Uint8Array<ArrayBuffer> }; type: string } {
  const boundary = `----form-${crypto.randomUUID()}`;
  const parts = [...form].flatMap(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === 'string') {
      return [utf8Bytes(`${head}\r\n\r\n${value.replace(/\r\n|\r|\n/g, '\r\n')}\r\n`)];
    }
    const type = value.type.replace(/[\r\n]/g, '') || 'application/octet-stream';
    const more = `; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    return [utf8Bytes(head + more), blobBytes(value as GuestBlob), utf8Bytes('\r\n')];
  });
  parts.push(utf8Bytes(`--${boundary}--\r\n`));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { content: { bytes }, type: `multipart/form-data; boundary=${boundary}` };
}

/** As browsers do: a name must not end its header. */
function quoted(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '%0D%0A').replaceAll('"', '%22');
}

internals.acceptFormData?.((body) => (body instanceof GuestFormData ? bodyOf(body) : undefined));
