/** `URL`: parsed by the host, which has the real parser. */

import { call } from './host.ts';
import { parseJson } from './primordials.ts';
import { GuestSearchParams } from './search-params.ts';

/** href, origin, protocol, username, password, host, hostname, port, pathname, search, hash */
type Parts = string[];

function parse(href: string, base: string | undefined): Parts | undefined {
  const parts = call('url', href.toWellFormed(), base === undefined ? '' : base.toWellFormed());
  return parts === undefined ? undefined : (parseJson(parts) as Parts);
}

export class GuestUrl {
  #parts: Parts;
  #params: GuestSearchParams | undefined;

  constructor(href: unknown, base?: unknown) {
    const parts = parse(`${href}`, base === undefined ? undefined : `${base}`);
    if (parts === undefined) {
      throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: `${href}` });
    }
    this.#parts = parts;
  }

  static canParse(href: unknown, base?: unknown): boolean {
    return parse(`${href}`, base === undefined ? undefined : `${base}`) !== undefined;
  }

  static parse(href: unknown, base?: unknown): GuestUrl | null {
    return GuestUrl.canParse(href, base) ? new GuestUrl(href, base) : null;
  }

  get searchParams(): GuestSearchParams {
    this.#params ??= new GuestSearchParams(this.search, (query) => this.#set('search', query));
    return this.#params;
  }

  get href(): string {
    return this.#parts[0] as string;
  }

  set href(value: string) {
    this.#parts = new GuestUrl(value).#parts;
    this.#params?.replace(this.search);
  }

  get origin(): string {
    return this.#parts[1] as string;
  }

  get search(): string {
    return this.#parts[9] as string;
  }

  set search(value: string) {
    this.#set('search', value);
    this.#params?.replace(this.search);
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  part(index: number): string {
    return this.#parts[index] as string;
  }

  #set(name: string, value: string): void {
    const parts = call('url-set', this.href, name, `${value}`.toWellFormed());
    if (parts !== undefined) {
      this.#parts = parseJson(parts) as Parts;
    }
  }

  static {
    const names = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', '', 'hash'];
    const part = GuestUrl.prototype.part;
    names.forEach((name, index) => {
      if (name !== '') {
        Object.defineProperty(GuestUrl.prototype, name, {
          get(this: GuestUrl) {
            return part.call(this, index + 2);
          },
          set(this: GuestUrl, value: string) {
            this.#set(name, value);
          },
          enumerable: true,
          configurable: true,
        });
      }
    });
    Reflect.deleteProperty(GuestUrl.prototype, 'part');
  }
}
