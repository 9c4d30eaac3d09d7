import { isExactNumber, requireDepth } from '../../base/json.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import { parsePatch } from '../../store/fhir/json-patch.ts';
import { isResourceType } from '../../store/index/registry.ts';
import type { Had } from '../read/read-resource.ts';
import { contentOf, readPatch, requireResource, requireSameId } from '../write/parse-resource.ts';
import type { Write } from '../write/write.ts';

/** One entry of a Bundle: a write, or something to read. */
export interface Entry {
  fullUrl: string | undefined;
  method: string;
  /** Type, id and what follows it. */
  path: readonly string[];
  query: string | undefined;
  write: Write | undefined;
  /** Of a read. */
  had: Had;
  /** In a batch, why this entry alone cannot be done. */
  refusal: Refusal | undefined;
}

/** @throws {Refusal} invalid, naming the entry; in a batch an entry keeps its refusal to itself */
export function parseEntries(entries: unknown, bundleType: 'batch' | 'transaction'): Entry[] {
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
      return {
        fullUrl: undefined,
        method: '',
        path: [],
        query: undefined,
        write: undefined,
        had: {},
        refusal,
      };
    }
  });
}

function parseEntry({ fullUrl, request, resource }: Record<string, unknown>): Entry {
  const { method, url, ...conditions } = fieldsOf(request);
  if (typeof method !== 'string' || typeof url !== 'string') {
    throw new Refusal('invalid', 'An entry needs request.method and request.url');
  }
  const [route = '', query] = url.replace(/^\/?(fhir\/R4\/)?/, '').split(/\?(.*)/s);
  const path = route.split('/').filter(Boolean);
  const [type = '', id] = path;
  if (!isResourceType(type)) throw new Refusal('not-found', `${type} is not a resource type`);
  const base = { type, ...(id === undefined ? {} : { id }), ...(id === undefined && query ? { query } : {}) };
  return {
    fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined,
    method,
    path,
    query,
    write: method === 'GET' ? undefined : parseWrite(method, base, path, conditions, resource),
    had: method === 'GET' ? conditions : {},
    refusal: undefined,
  };
}

type Base = Pick<Write, 'type' | 'id' | 'query'>;

function parseWrite(
  method: string,
  base: Base,
  path: readonly string[],
  { ifMatch, ifNoneMatch, ifNoneExist }: Record<string, unknown>,
  resource: unknown,
): Write {
  const { type, id, query } = base;
  const isTarget = path.length === 2 || (path.length === 1 && query !== undefined);
  const match = typeof ifMatch === 'string' ? { ifMatch } : {};
  if (method === 'POST' && path.length === 1) {
    const condition = typeof ifNoneExist === 'string' ? { query: ifNoneExist.replace(/^\?/, '') } : {};
    return { kind: 'create', type, ...contentOf(requireResource(resource, type)), ...condition };
  }
  if (method === 'PUT' && isTarget) {
    const body = requireResource(resource, type);
    if (id !== undefined) requireSameId(body, id);
    return {
      kind: 'update',
      ...base,
      ...match,
      ...contentOf(body),
      ...(typeof ifNoneMatch === 'string' ? { ifNoneMatch } : {}),
    };
  }
  if (method === 'PATCH' && isTarget)
    return { kind: 'patch', ...base, ...match, operations: patchOf(resource) };
  if (method === 'DELETE' && isTarget) return { kind: 'delete', ...base, ...match };
  throw new Refusal('invalid', `${method} ${path.join('/')} cannot be an entry`);
}

/** R4: a JSON Patch travels in a Bundle as a Binary, a FHIRPath Patch as it is. */
function patchOf(resource: unknown) {
  const { resourceType, data } = fieldsOf(resource);
  if (resourceType === 'Parameters') return readPatch(resource);
  if (resourceType !== 'Binary' || typeof data !== 'string') {
    throw new Refusal(
      'invalid',
      'A PATCH entry needs a Binary that holds the JSON Patch, or Parameters that are a FHIRPath Patch',
    );
  }
  const text = Buffer.from(data, 'base64').toString('utf8');
  requireDepth(text);
  try {
    return parsePatch(JSON.parse(text));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('invalid', 'The JSON Patch could not be parsed');
  }
}

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

/**
 * The entries of a batch in waves: each refers only to what earlier waves make. Entries that refer to each
 * other in a circle come with the reason why none of them can be carried out.
 */
export function inWaves(entries: readonly Entry[]): { waves: Entry[][]; circular: Map<Entry, Refusal> } {
  const named = new Map(
    entries.flatMap((entry) => (entry.write && entry.fullUrl ? [[entry.fullUrl, entry]] : [])),
  );
  const needs = new Map(entries.map((entry) => [entry, neededBy(entry, named)]));
  const waves: Entry[][] = [];
  const placed = new Set<Entry>();
  let left: readonly Entry[] = entries;
  while (left.length > 0) {
    const wave = left.filter((entry) => needs.get(entry)?.every((one) => placed.has(one)) ?? true);
    if (wave.length === 0) break;
    for (const entry of wave) placed.add(entry);
    waves.push(wave);
    left = left.filter((entry) => !placed.has(entry));
  }
  return { waves, circular: new Map(left.map((entry) => [entry, circle()])) };
}

/** An entry that names itself needs no other. */
function neededBy(entry: Entry, named: ReadonlyMap<string, Entry>): Entry[] {
  if (!entry.write || !('body' in entry.write) || named.size === 0) return [];
  return [...linksIn(entry.write.body)]
    .flatMap((link) => named.get(link) ?? [])
    .filter((other) => other !== entry);
}

function circle(): Refusal {
  const text = 'The entry and others refer to each other, or to such: send them as a transaction';
  return new Refusal('invalid', text);
}
