/** `URL`, parsed by the host, which has the real parser, and `URLSearchParams`. */

import { urlParts } from '../../modules.ts';
import { ask, parseJson } from '../primordials.ts';

type Pair<Value> = [name: string, value: Value];

/** Names and values as they are kept; throws a TypeError for what may not be one. */
interface Rules<Value> {
  name: (name: unknown) => string;
  value: (value: unknown, ...more: unknown[]) => Value;
}

interface State<Value> {
  pairs: Pair<Value>[];
  changed: () => void;
}

let stateOf: <Value>(all: Pairs<Value>) => State<Value>;

/** Names with values, in their order: what URLSearchParams, Headers and FormData have in common. */
export class Pairs<Value> {
  readonly #state: State<Value> = { pairs: [], changed: () => undefined };
  readonly #rules: Rules<Value>;

  static {
    stateOf = (all) => all.#state;
  }

  constructor(rules: Rules<Value>) {
    this.#rules = rules;
  }

  append(name: unknown, value: unknown, ...more: unknown[]): void {
    this.#state.pairs.push([this.#rules.name(name), this.#rules.value(value, ...more)]);
    this.#state.changed();
  }

  set(name: unknown, value: unknown, ...more: unknown[]): void {
    const made: Pair<Value> = [this.#rules.name(name), this.#rules.value(value, ...more)];
    const { pairs } = this.#state;
    const first = pairs.findIndex((pair) => pair[0] === made[0]);
    this.#state.pairs = pairs.filter((pair, index) => index <= first || pair[0] !== made[0]);
    this.#state.pairs[first < 0 ? pairs.length : first] = made;
    this.#state.changed();
  }

  delete(name: unknown, value?: unknown): void {
    const key = this.#rules.name(name);
    const stays = (pair: Pair<Value>) =>
      pair[0] !== key || (value !== undefined && pair[1] !== this.#rules.value(value));
    this.#state.pairs = this.#state.pairs.filter(stays);
    this.#state.changed();
  }

  get(name: unknown): Value | null {
    return this.getAll(name)[0] ?? null;
  }

  getAll(name: unknown): Value[] {
    const key = this.#rules.name(name);
    return this.#state.pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
  }

  has(name: unknown, value?: unknown): boolean {
    const all = this.getAll(name);
    return value === undefined ? all.length > 0 : all.includes(this.#rules.value(value));
  }

  forEach(run: (value: Value, name: string, all: this) => void): void {
    for (const [name, value] of this) run(value, name, this);
  }

  *entries(): IterableIterator<Pair<Value>> {
    yield* this.#state.pairs.map(([name, value]): Pair<Value> => [name, value]);
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<Pair<Value>> {
    return this.entries();
  }
}

/** The pairs of an iterable, or the properties of an object. */
export function pairsOf(init: object): unknown[][] {
  const pairs = Symbol.iterator in init ? [...(init as Iterable<Iterable<unknown>>)] : Object.entries(init);
  return pairs.map((pair) => [...pair]);
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    const octets = spaced
      .replace(/[^\0-\x7f]+/g, (part) => encodeURIComponent(part.toWellFormed()))
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return ask('decode', 'utf-8', octets);
  }
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

function parseQuery(query: string): Pair<string>[] {
  const parts = query.replace(/^\?/, '').split('&');
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return [decode(name), decode(value.join('='))];
    });
}

export class URLSearchParams extends Pairs<string> {
  constructor(init?: unknown) {
    super({ name: String, value: String });
    if (typeof init === 'object' && init !== null) {
      for (const [name, value] of pairsOf(init)) this.append(name, value);
    } else if (init !== undefined && init !== null) {
      stateOf(this).pairs = parseQuery(`${init}`);
    }
  }

  get size(): number {
    return stateOf(this).pairs.length;
  }

  sort(): void {
    stateOf(this).pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    stateOf(this).changed();
  }

  override toString(): string {
    return [...this.entries()].map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
}

type Parts = Record<(typeof urlParts)[number], string>;

function parse(operation: 'url' | 'url-set', ...given: unknown[]): Parts | undefined {
  const [a, b, c] = given.map((part) => (part === undefined ? '' : `${part}`.toWellFormed()));
  try {
    return parseJson(ask(operation, a, b, c));
  } catch {
    return undefined;
  }
}

export class URL {
  declare href: string;
  declare search: string;
  #parts: Parts;
  #params: URLSearchParams | undefined;

  constructor(href: unknown, base?: unknown) {
    const parts = parse('url', href, base);
    if (parts === undefined) {
      throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: `${href}` });
    }
    this.#parts = parts;
  }

  static canParse(href: unknown, base?: unknown): boolean {
    return parse('url', href, base) !== undefined;
  }

  static parse(href: unknown, base?: unknown): URL | null {
    return URL.canParse(href, base) ? new URL(href, base) : null;
  }

  get searchParams(): URLSearchParams {
    if (this.#params === undefined) {
      const params = new URLSearchParams(this.search);
      stateOf(params).changed = () => this.#change('search', params.toString());
      this.#params = params;
    }
    return this.#params;
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  /** What is no value for a part changes nothing. */
  #change(name: string, value: unknown): void {
    this.#parts = parse('url-set', this.href, name, value) ?? this.#parts;
  }

  static {
    for (const name of urlParts) {
      const set = function (this: URL, value: unknown) {
        if (name === 'href') this.#parts = new URL(value).#parts;
        else this.#change(name, value);
        if (this.#params && (name === 'href' || name === 'search')) {
          stateOf(this.#params).pairs = parseQuery(this.search);
        }
      };
      Object.defineProperty(URL.prototype, name, {
        get(this: URL) {
          return this.#parts[name];
        },
        ...(name !== 'origin' && { set }),
        enumerable: true,
        configurable: true,
      });
    }
  }
}
