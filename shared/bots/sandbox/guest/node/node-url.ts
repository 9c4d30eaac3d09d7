/** Node's `url`: the WHATWG classes, and the older functions over plain objects as the host has them. */

import { URL, URLSearchParams } from '../parts/url.ts';
import { inNode } from '../primordials.ts';

export { URL, URLSearchParams };

export function parse(text: unknown, parseQuery?: boolean, slashesDenoteHost?: boolean): object {
  return inNode('url.parse', text, parseQuery, slashesDenoteHost);
}

export function format(url: unknown): string {
  return url instanceof URL ? url.href : inNode('url.format', url);
}

export function resolve(from: unknown, to: unknown): string {
  return inNode('url.resolve', `${from}`, `${to}`);
}

export function urlToHttpOptions(url: URL): object {
  return inNode('url.urlToHttpOptions', url.href);
}
