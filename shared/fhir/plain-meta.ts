import { withoutKeys } from '../typed-keys.ts';

/** What `meta` has beside R4's elements; strict parsers refuse a resource that has more than R4 names. */
const beyond = new Set(['project', 'author', 'onBehalfOf']);

/** The `meta` that R4 knows. */
export function plainMeta<Meta extends object>(meta: Meta): Meta {
  return withoutKeys(meta, (name) => beyond.has(name));
}
