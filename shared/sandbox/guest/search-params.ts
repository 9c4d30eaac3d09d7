/** `URLSearchParams`, and with it the form encoding of bodies. */

import { latin1Bytes } from './binary-text.ts';
import { utf8Text } from './utf8.ts';

type Pair = [name: string, value: string];

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    const octets = spaced.replace(/[^\0-\x7f]+/g, (part) => encodeURIComponent(part.toWellFormed()));
    const bytes = octets.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return utf8Text(latin1Bytes(bytes));
  }
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

function parse(query: string): Pair[] {
  return query
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return [decode(name), decode(value.join('='))];
    });
}

function pairsOf(init: unknown): Pair[] {
  if (init === undefined || init === null) {
    return [];
  }
  if (typeof init !== 'object') {
    return parse(`${init}`);
  }
  const pairs = Symbol.iterator in init ? [...(init as Iterable<Iterable<unknown>>)] : Object.entries(init);
  return pairs.map((pair) => {
    const [name, value] = [...(pair as Iterable<unknown>)];
    return [`${name}`, `${value}`];
  });
}

export class GuestSearchParams {
  #pairs: Pair[];
  readonly #changed: ((query: string) => void) | undefined;

  /** `changed` is how a URL hears of edits; not for Bots. */
  constructor(init?: unknown, changed?: (query: string) => void) {
    this.#pairs = pairsOf(init);
    this.#changed = changed;
  }

  replace(query: string): void {
    this.#pairs = parse(query);
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: string, value: string): void {
    this.#pairs.push([`${name}`, `${value}`]);
    this.#changed?.(this.toString());
  }

  delete(name: string, value?: string): void {
    this.#pairs = this.#pairs.filter(
      (pair) => pair[0] !== `${name}` || (value !== undefined && pair[1] !== `${value}`),
    );
    this.#changed?.(this.toString());
  }

  get(name: string): string | null {
    return this.#pairs.find((pair) => pair[0] === `${name}`)?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.#pairs.filter((pair) => pair[0] === `${name}`).map((pair) => pair[1]);
  }

  has(name: string, value?: string): boolean {
    return this.#pairs.some(
      (pair) => pair[0] === `${name}` && (value === undefined || pair[1] === `${value}`),
    );
  }

  set(name: string, value: string): void {
    const first = this.#pairs.findIndex((pair) => pair[0] === `${name}`);
    if (first < 0) {
      this.append(name, value);
      return;
    }
    this.#pairs = this.#pairs.filter((pair, index) => index <= first || pair[0] !== `${name}`);
    this.#pairs[first] = [`${name}`, `${value}`];
    this.#changed?.(this.toString());
  }

  sort(): void {
    this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#changed?.(this.toString());
  }

  forEach(run: (value: string, name: string, params: this) => void): void {
    for (const [name, value] of this.#pairs) {
      run(value, name, this);
    }
  }

  *entries(): IterableIterator<Pair> {
    yield* this.#pairs.map(([name, value]) => [name, value] as Pair);
  }

  *keys(): IterableIterator<string> {
    yield* this.#pairs.map((pair) => pair[0]);
  }

  *values(): IterableIterator<string> {
    yield* this.#pairs.map((pair) => pair[1]);
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries();
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
}
