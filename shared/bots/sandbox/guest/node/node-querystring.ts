/** Node's `querystring`, as the host has it. */

import { inNode } from '../primordials.ts';

const escapeText = (text: unknown) => inNode<string>('querystring.escape', `${text}`.toWellFormed());
const unescapeText = (text: unknown) => inNode<string>('querystring.unescape', `${text}`);

export function stringify(fields?: object | null, separator?: string, equals?: string): string {
  const pairs = Object.entries(fields ?? {}).map(([name, value]) => [name, [value].flat().map(primitive)]);
  return inNode('querystring.stringify', Object.fromEntries(pairs), separator, equals);
}

/** Everything else stands as an empty value. */
function primitive(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  return ['string', 'number', 'boolean'].includes(typeof value) ? value : null;
}

/** The result has no prototype, as in Node: names come from outside. */
export function parse(text: unknown, separator?: string, equals?: string, options?: object) {
  const fields = inNode<Record<string, string | string[]>>(
    'querystring.parse',
    text,
    separator,
    equals,
    options,
  );
  return Object.setPrototypeOf(fields, null);
}

export { escapeText as escape, parse as decode, stringify as encode, unescapeText as unescape };
