import { isExactNumber, parseJson, requireModest } from '../../base/json.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import { decodeUtf8 } from '../../carry/http/request.ts';
import { parsePatch } from '../../store/fhir/json-patch.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { eachPart } from '../../store/index/value.ts';
import type { Had } from '../read/read-resource.ts';
import { contentOf, readPatch, requireResource } from '../write/parse-resource.ts';
import { type Conditions, type Write, writeOf } from '../write/write.ts';

/** One entry of a Bundle: a write, or something to read. */
export interface BundledRequest {
  fullUrl?: string | undefined;
  method: string;
  /** Type, id and what follows it. */
  path: readonly string[];
  query?: string | undefined;
  write?: Write;
  /** Of a read. */
  had: Had;
  /** In a batch, why this entry alone cannot be done. */
  refusal?: Refusal;
}

/** @throws {Refusal} invalid, naming the entry; in a batch an entry keeps its refusal to itself */
export function parseEntries(entries: unknown, bundleType: 'batch' | 'transaction'): BundledRequest[] {
  if (!Array.isArray(entries)) throw invalidField('Bundle.entry', 'Bundle.entry must be an array');
  return entries.map((entry, i) => {
    try {
      return parseEntry(fieldsOf(entry));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const refusal = new Refusal(error.kind, error.message, {
        issues: error.issues.map(({ text }) => ({ text, expression: `Bundle.entry[${i}]` })),
      });
      if (bundleType === 'transaction') throw refusal;
      return { method: '', path: [], had: {}, refusal };
    }
  });
}

function parseEntry({ fullUrl, request, resource }: Record<string, unknown>): BundledRequest {
  const { method, url, ...conditions } = fieldsOf(request);
  if (typeof method !== 'string' || typeof url !== 'string') {
    throw new Refusal('invalid', 'An entry needs request.method and request.url');
  }
  const [route = '', query] = url.replace(/^\/?(fhir\/R4\/)?/, '').split(/\?(.*)/s);
  const path = route.split('/').filter(Boolean);
  const [type = ''] = path;
  if (!isResourceType(type)) throw new Refusal('not-found', `${type} is not a resource type`);
  const entry = { fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined, method, path, query };
  if (method === 'GET') return { ...entry, had: conditions };
  return { ...entry, had: {}, write: writeIn(entry, conditions, resource) };
}

const kinds: ReadonlyMap<string, Write['kind']> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

function writeIn(
  { method, path, query }: Pick<BundledRequest, 'method' | 'path' | 'query'>,
  conditions: Conditions,
  resource: unknown,
): Write {
  const [type = '', id] = path;
  const isTarget = path.length === 2 || (path.length === 1 && query !== undefined);
  const isRight = method === 'POST' ? path.length === 1 : isTarget;
  const kind = isRight ? kinds.get(method) : undefined;
  if (!kind) throw new Refusal('invalid', `${method} ${path.join('/')} cannot be an entry`);
  const target = id === undefined ? { type, ...(query ? { query } : {}) } : { type, id };
  return writeOf(kind, target, conditions, {
    content: () => contentOf(requireResource(resource, type)),
    operations: () => patchOf(resource),
  });
}

/** R4: a JSON Patch travels in a Bundle as a Binary, a FHIRPath Patch as it is. */
function patchOf(resource: unknown) {
  const { resourceType, data } = fieldsOf(resource);
  if (resourceType === 'Parameters') return readPatch(resource);
  if (resourceType !== 'Binary' || typeof data !== 'string') {
    const what = 'a Binary that holds the JSON Patch, or Parameters that are a FHIRPath Patch';
    throw new Refusal('invalid', `A PATCH entry needs ${what}`);
  }
  const text = decodeUtf8(Buffer.from(data, 'base64'));
  requireModest(text);
  try {
    return parsePatch(parseJson(text));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('invalid', 'The JSON Patch could not be parsed');
  }
}

/** Elements that link to other resources, beside `reference`. */
const linking = new Set([
  ...['url', 'uri', 'valueUri', 'valueUrl', 'valueCanonical'],
  ...['instantiatesUri', 'instantiatesCanonical'],
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
  eachPart(
    value,
    ({ reference, fullUrl }, path) => {
      if (typeof fullUrl === 'string') own.add(fullUrl);
      if (typeof reference === 'string' && /^urn:(?:uuid|oid):/.test(reference))
        found.push({ reference, expression: `${path}.reference` });
    },
    at,
  );
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

/**
 * The entries of a batch in waves: each refers only to what earlier waves make. Entries that refer to each
 * other in a circle come with the reason why none of them can be carried out.
 */
export function inWaves(entries: readonly BundledRequest[]): {
  waves: BundledRequest[][];
  circular: Map<BundledRequest, Refusal>;
} {
  const named = new Map(
    entries.flatMap((entry) => (entry.write && entry.fullUrl ? [[entry.fullUrl, entry]] : [])),
  );
  const waves: BundledRequest[][] = [];
  let left = entries.map((entry) => ({ entry, needs: neededBy(entry, named) }));
  for (;;) {
    const wave = left.flatMap(({ entry, needs }) => (needs.size === 0 ? [entry] : []));
    if (wave.length === 0) break;
    waves.push(wave);
    left = left.filter(({ needs }) => needs.size > 0);
    // Each wave is taken away once: at most the square of the number of entries.
    for (const { needs } of left) for (const placed of wave) needs.delete(placed);
  }
  const text = 'The entry and others refer to each other, or to such: send them as a transaction';
  return { waves, circular: new Map(left.map(({ entry }) => [entry, new Refusal('invalid', text)])) };
}

/** An entry that names itself needs no other. */
function neededBy(entry: BundledRequest, named: ReadonlyMap<string, BundledRequest>): Set<BundledRequest> {
  if (!entry.write || !('body' in entry.write) || named.size === 0) return new Set();
  const needs = new Set([...linksIn(entry.write.body)].flatMap((link) => named.get(link) ?? []));
  needs.delete(entry);
  return needs;
}
