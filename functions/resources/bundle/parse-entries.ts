import { requireDepth } from '../../../shared/fhir/json-depth.ts';
import { parsePatch } from '../../../shared/fhir/json-patch.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { contentOf } from '../write/binary-body.ts';
import { readPatch, requireResource } from '../write/parse-resource.ts';
import { requireSameId } from '../write/same-id.ts';
import type { Write } from '../write/write.ts';

/** One entry of a Bundle: a write, or something to read. */
export interface Entry {
  fullUrl: string | undefined;
  method: string;
  /** Type, id and what follows it. */
  path: readonly string[];
  query: string | undefined;
  write: Write | undefined;
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
      return { fullUrl: undefined, method: '', path: [], query: undefined, write: undefined, refusal };
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
