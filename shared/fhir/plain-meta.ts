/** What `meta` has beside R4's elements; strict parsers refuse a resource that has more than R4 names. */
const beyond = new Set(['project', 'author', 'onBehalfOf']);

/** The `meta` that R4 knows. */
export function plainMeta<Meta extends object>(meta: Meta): Meta {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => !beyond.has(name))) as Meta;
}
