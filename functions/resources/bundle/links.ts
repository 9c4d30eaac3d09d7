import { isExactNumber } from '../../../shared/fhir/json.ts';
import { isObject } from '../../../shared/fields-of.ts';

/** Elements that link to other resources, beside `reference`. */
const linking = new Set([
  'url',
  'uri',
  'valueUri',
  'valueUrl',
  'valueCanonical',
  'instantiatesUri',
  'instantiatesCanonical',
]);

/** Links of a narrative (R4 transaction, replacing hyperlinks). */
const hyperlink = /\b(href|src)=(["'])(.*?)\2/g;

/**
 * A resource with what links to entries of a Bundle leading to what they became: references, other URLs
 * and the links of narratives.
 * @param known what each link is to be replaced by
 */
export function relinked<T>(value: T, known: ReadonlyMap<string, string>): T {
  return known.size === 0 ? value : (walk(value, '', (link) => known.get(link) ?? link) as T);
}

/** Every link of a resource, each once. */
export function linksIn(value: unknown): Set<string> {
  const found = new Set<string>();
  walk(value, '', (link) => {
    found.add(link);
    return link;
  });
  return found;
}

/**
 * References by a name that an entry of a Bundle has, `urn:uuid:…`, and the places where they stand: they
 * mean nothing outside of the Bundle. Those inside a Bundle that is itself stored lead to its own entries.
 */
export function namedReferences(value: unknown, at: string): { reference: string; expression: string }[] {
  const own = new Set<string>();
  const found: { reference: string; expression: string }[] = [];
  const look = (part: unknown, path: string): void => {
    if (!isObject(part)) return;
    const { reference, fullUrl } = part;
    if (typeof fullUrl === 'string') own.add(fullUrl);
    if (typeof reference === 'string' && /^urn:(?:uuid|oid):/.test(reference)) {
      found.push({ reference, expression: `${path}.reference` });
    }
    for (const [name, inner] of Object.entries(part)) {
      look(inner, Array.isArray(part) ? `${path}[${name}]` : `${path}.${name}`);
    }
  };
  look(value, at);
  return found.filter(({ reference }) => !own.has(reference));
}

function walk(value: unknown, name: string, link: (text: string) => string): unknown {
  if (typeof value === 'string') {
    if (name === 'reference' || linking.has(name)) return link(value);
    return name === 'div' ? relinkedNarrative(value, link) : value;
  }
  if (Array.isArray(value)) return value.map((part) => walk(part, name, link));
  if (!isObject(value) || isExactNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, walk(part, key, link)]));
}

function relinkedNarrative(html: string, link: (text: string) => string): string {
  return html.replace(hyperlink, (_all, name, quote, url) => `${name}=${quote}${link(url)}${quote}`);
}
