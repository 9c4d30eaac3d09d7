/** Node's `url`: the WHATWG classes, and the older functions over plain objects. */

import * as querystring from './node-querystring.ts';

const { URL, URLSearchParams } = globalThis;

export { URL, URLSearchParams };

interface LegacyUrl {
  protocol: string | null;
  slashes: boolean | null;
  auth: string | null;
  host: string | null;
  port: string | null;
  hostname: string | null;
  hash: string | null;
  search: string | null;
  query: string | object | null;
  pathname: string | null;
  path: string | null;
  href: string;
}

const SLASHED = /^(?:https?|ftp|gopher|file|wss?|javascript):$/i;
/** scheme, authority, path, query, fragment: RFC 3986 appendix B. */
const PARTS = /^([a-z][a-z0-9+.-]*:)?(\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is;

export function parse(text: string, parseQuery = false, slashesDenoteHost = false): LegacyUrl {
  if (typeof text !== 'string') {
    throw Object.assign(new TypeError('The "url" argument must be of type string'), {
      code: 'ERR_INVALID_ARG_TYPE',
    });
  }
  const [, scheme, slashes, authority = '', rest = '', search, hash] = PARTS.exec(text.trim()) ?? [];
  if (slashes === undefined && scheme !== undefined && !SLASHED.test(scheme)) {
    // As Node: `mailto:a@b` has a host.
    const { href: _, ...parsed } = parse(`${scheme}//${text.trim().slice(scheme.length)}`, parseQuery);
    const same = { ...parsed, slashes: null, pathname: rest.includes('/') ? parsed.pathname : null };
    return { ...same, path: same.pathname ?? (search || null), href: text.trim() };
  }
  const hasHost = slashes !== undefined && (scheme !== undefined || slashesDenoteHost);
  const at = authority.lastIndexOf('@');
  const [, hostname = '', port = null] = /^(.*?)(?::(\d*))?$/s.exec(authority.slice(at + 1)) ?? [];
  const path = hasHost || slashes === undefined ? rest : `${slashes}${rest}`;
  const pathname = path === '' ? (hasHost ? '/' : null) : path;
  const host = hasHost ? (hostname + (port ? `:${port}` : '')).toLowerCase() : null;
  const parsed: LegacyUrl = {
    protocol: scheme?.toLowerCase() ?? null,
    slashes: hasHost ? true : null,
    auth: hasHost && at >= 0 ? querystring.unescape(authority.slice(0, at)) : null,
    host,
    port: hasHost ? port || null : null,
    hostname: hasHost ? hostname.toLowerCase() : null,
    hash: hash ?? null,
    search: search ?? (parseQuery ? '' : null),
    query: parseQuery ? querystring.parse(search?.slice(1)) : (search?.slice(1) ?? null),
    pathname,
    path: pathname === null && search === undefined ? null : `${pathname ?? ''}${search ?? ''}`,
    href: '',
  };
  return { ...parsed, href: format(parsed) };
}

export function format(url: string | URL | Partial<LegacyUrl>): string {
  if (typeof url === 'string') return format(parse(url));
  if (url instanceof URL) return url.href;
  const protocol = url.protocol ? url.protocol.replace(/:?$/, ':') : '';
  const auth = url.auth ? `${querystring.escape(url.auth).replace(/%3A/i, ':')}@` : '';
  const host = url.host ?? (url.hostname ? url.hostname + (url.port ? `:${url.port}` : '') : undefined);
  const isWeb = /^(?:https?|ftp|file|wss?):$/.test(protocol);
  const slashes =
    host !== undefined && host !== null && (url.slashes || isWeb || protocol === '') ? '//' : '';
  const query = typeof url.query === 'object' && url.query !== null ? querystring.stringify(url.query) : '';
  const search = url.search ?? (query && `?${query}`);
  const pathname = url.pathname ?? '';
  const path = slashes && pathname !== '' && !pathname.startsWith('/') ? `/${pathname}` : pathname;
  const marked = (text: string, mark: string) => (text && !text.startsWith(mark) ? mark + text : text);
  return `${protocol}${slashes}${host ? auth + host : ''}${path.replace(/[?#]/g, encodeURIComponent)}${marked(search, '?')}${marked(url.hash ?? '', '#')}`;
}

export function resolve(from: string, to: string): string {
  const base = new URL(to, new URL(from, 'resolve://h'));
  return base.protocol === 'resolve:' ? base.pathname + base.search + base.hash : base.href;
}

export function urlToHttpOptions({
  protocol,
  hostname,
  hash,
  search,
  pathname,
  href,
  port,
  username,
  password,
}: URL): object {
  return {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    hash,
    search,
    pathname,
    path: `${pathname}${search}`,
    href,
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username || password
      ? { auth: `${querystring.unescape(username)}:${querystring.unescape(password)}` }
      : {}),
  };
}
