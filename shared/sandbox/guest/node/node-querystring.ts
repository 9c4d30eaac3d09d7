/** Node's `querystring`. */

type Fields = Record<string, string | string[]>;

function escapeText(text: unknown): string {
  return encodeURIComponent(`${text}`.toWellFormed());
}

function unescapeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint';
  return isPlain || (typeof value === 'number' && Number.isFinite(value)) ? escapeText(value) : '';
}

export function stringify(fields: object | null | undefined, separator = '&', equals = '='): string {
  const parts = Object.entries(fields ?? {}).flatMap(([name, value]: [string, unknown]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.map((one) => escapeText(name) + equals + valueText(one));
  });
  return parts.join(separator);
}

/** The result has no prototype, as in Node: names come from outside. */
export function parse(text: unknown, separator = '&', equals = '=', options?: { maxKeys?: number }): Fields {
  const fields: Fields = Object.create(null);
  if (typeof text !== 'string' || text === '') return fields;
  const most = options?.maxKeys ?? 1000;
  const parts = most > 0 ? text.split(separator, most) : text.split(separator);
  for (const part of parts.filter((one) => one !== '')) {
    const at = part.indexOf(equals);
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + equals.length)];
    const key = unescapeText(name.replaceAll('+', ' '));
    const one = unescapeText(value.replaceAll('+', ' '));
    const known = fields[key];
    fields[key] = known === undefined ? one : [known, one].flat();
  }
  return fields;
}

export { escapeText as escape, parse as decode, stringify as encode, unescapeText as unescape };
