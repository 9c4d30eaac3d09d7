/** `Headers`. Names are kept in lower case; values may hold no line ends. */

type Pair = [name: string, value: string];

function checkedName(name: unknown): string {
  const text = `${name}`;
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) {
    throw new TypeError(`Invalid header name: ${text.slice(0, 100)}`);
  }
  return text.toLowerCase();
}

function checkedValue(value: unknown): string {
  const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (/[\0\n\r]|[^\0-\xff]/.test(text)) {
    throw new TypeError('Invalid character in a header value');
  }
  return text;
}

export class GuestHeaders {
  readonly #values = new Map<string, string[]>();

  constructor(init?: unknown) {
    if (init === undefined || init === null) {
      return;
    }
    const pairs =
      Symbol.iterator in Object(init) ? [...(init as Iterable<Pair>)] : Object.entries(Object(init));
    for (const [name, value] of pairs) {
      this.append(name, value as string);
    }
  }

  append(name: string, value: string): void {
    const key = checkedName(name);
    this.#values.set(key, [...(this.#values.get(key) ?? []), checkedValue(value)]);
  }

  set(name: string, value: string): void {
    this.#values.set(checkedName(name), [checkedValue(value)]);
  }

  delete(name: string): void {
    this.#values.delete(checkedName(name));
  }

  has(name: string): boolean {
    return this.#values.has(checkedName(name));
  }

  get(name: string): string | null {
    return this.#values.get(checkedName(name))?.join(', ') ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  forEach(run: (value: string, name: string, headers: this) => void): void {
    for (const [name, value] of this) {
      run(value, name, this);
    }
  }

  *entries(): IterableIterator<Pair> {
    for (const name of [...this.#values.keys()].sort()) {
      const values = this.#values.get(name) ?? [];
      for (const value of name === 'set-cookie' ? values : [values.join(', ')]) {
        yield [name, value];
      }
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) {
      yield name;
    }
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) {
      yield value;
    }
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries();
  }
}
