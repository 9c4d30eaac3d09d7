import { isExactNumber, jsonBytes } from '../../base/json.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { parseReference, type Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import type { HttpRequest } from '../../carry/http/request.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { isSortKey } from '../../carry/table/keys.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit } from '../../identity/gate/actor.ts';
import { compartmentRange, patientsOf } from '../../store/index/key-range.ts';
import { parseDate } from '../../store/index/ordered.ts';
import { isResourceType, resourceTypes } from '../../store/index/registry.ts';
import { eachPart } from '../../store/index/value.ts';
import { bytesSeen, type OpenedResource, openState } from '../../store/items/content.ts';
import { type PositionedValue, readPageCursor, takePage, writePageCursor } from '../../store/items/page.ts';
import {
  type Candidate,
  candidatesInTurn,
  inBatches,
  openInTurn,
  type RangePosition,
} from '../../store/items/read-ranges.ts';
import { batch, readHeads } from '../../store/items/versions.ts';
import type { SearchReader } from '../../store/search/hit.ts';
import { parseBody } from '../write/parse-resource.ts';
import { type Bundle, entryOf, pageBundle, pageLinks } from './bundle.ts';
import { Included, judging, readerOf, readReferenced } from './included.ts';
import { readResource } from './read-resource.ts';

const mostCount = 1000;

/** What a record refers to beside the patient, and cannot be read without. */
const supporting = new Set([
  ...['Device', 'Location', 'Medication', 'Substance'],
  ...['Organization', 'Practitioner', 'PractitionerRole'],
]);

interface Wanted {
  types: readonly string[] | undefined;
  /** Last updated from here on, as an instant. */
  since: string | undefined;
  count: number;
  cursor: string | undefined;
}

/**
 * R4 operation Patient/$everything: the Patient, and page by page whatever refers to it, as far as the
 * caller may see it; with each page the practitioners, organizations … that it names, as `include`.
 * @throws {Refusal} not-found, gone, forbidden, invalid
 */
export async function readEverything(
  services: Services,
  caller: Caller,
  { id, query }: { id: string; query: URLSearchParams },
): Promise<Bundle> {
  const wanted = parseWanted(query);
  const path = `Patient/${id}/$everything`;
  const listing = { project: caller.project, name: JSON.stringify([path, wanted.types, wanted.since]) };
  const after = await readPageCursor(services, listing, wanted.cursor, parsePosition);
  const { resource: patient } = await readResource(services, caller, { type: 'Patient', id });
  const { actor } = await admit(services, caller, []);
  const reader = readerOf(services, actor);
  const { table } = judging(services, actor, {
    ...{ interaction: 'search', types: wanted.types ?? resourceTypes() },
    ...{ queries: wanted.types?.length ?? 1, items: wanted.count },
  });
  const record = recordOf({ ...reader, table }, patient, wanted, after);
  const page = await takePage(record, { count: wanted.count, sizeOf: ({ bytes }) => bytes });

  const resources = page.values.map(({ resource }) => resource);
  const bytes = page.values.reduce((sum, one) => sum + one.bytes, 0);
  const included = new Included(resources, bytes);
  await readReferenced(reader, [...supportingOf(resources)], included);
  const following = new URLSearchParams([...query]);
  const cursor = await writePageCursor(services, listing, page);
  if (cursor !== undefined) following.set('_cursor', cursor);
  const next = cursor === undefined ? undefined : following;
  const entries = [
    ...resources.map((resource) => entryOf(services, resource, 'match')),
    ...included.resources.map((resource) => entryOf(services, resource, 'include')),
  ];
  return pageBundle('searchset', entries, pageLinks(services.baseUrl, path, query, next));
}

/** Behind the Patient, which comes first, or behind an item of the compartment's index. */
type RecordPosition = 'patient' | RangePosition;

function parsePosition(value: unknown): RecordPosition | undefined {
  if (value === 'patient') return value;
  // Cursors of earlier releases call the range a stretch.
  const { stretch, range = stretch, sk } = fieldsOf(value);
  return typeof range === 'string' && isSortKey(sk) ? { range, sk } : undefined;
}

async function* recordOf(
  reader: SearchReader,
  patient: Resource,
  { types, since }: Wanted,
  after: RecordPosition | undefined,
): AsyncGenerator<PositionedValue<OpenedResource, RecordPosition>> {
  const reference = `Patient/${patient.id}`;
  const isWanted = (resource: Resource) => since === undefined || resource.meta.lastUpdated >= since;
  if (after === undefined && (types === undefined || types.includes('Patient')) && isWanted(patient)) {
    yield { position: 'patient', value: { resource: patient, bytes: jsonBytes(patient) } };
  }
  const ranges = (types ?? [undefined]).map((type) => compartmentRange(reference, type));
  const owner = { table: reader.table, project: reader.project, type: 'Patient' };
  const opened = openInTurn(owner, ranges, batch, after === 'patient' ? undefined : after);
  for await (const some of inBatches(candidatesInTurn(opened), () => batch)) {
    const heads = await headsOf(reader, some);
    // One at a time: they may be large.
    for (const [i, { range, sk }] of some.entries()) {
      const head = heads[i];
      const state = head && (await openState(reader.table, head));
      const resource = state?.resource;
      const isOther = resource && !(resource.resourceType === 'Patient' && resource.id === patient.id);
      const isAsked = head && isOther && isWanted(resource);
      const mayShow = isAsked && (await reader.maySee?.(head.pk, resource, [])) !== false;
      const seen = mayShow ? await reader.see(resource, []) : undefined;
      // By what the caller sees: a hidden element must not tell whose record it belongs to.
      const isOfPatient = seen !== undefined && patientsOf(seen).has(reference);
      const value = state && isOfPatient ? { resource: seen, bytes: bytesSeen(state, seen) } : undefined;
      yield { position: { range, sk }, value };
    }
  }
}

/** The heads of a batch, in its order; their types stand in the sort keys. */
async function headsOf(reader: SearchReader, some: readonly Candidate[]): Promise<(Item | undefined)[]> {
  const types = some.map(({ sk }) => sk.slice(0, sk.indexOf('#')));
  const heads = new Map(
    await Promise.all(
      [...new Set(types)].map(async (type) => {
        const ids = some.filter((_, i) => types[i] === type).map(({ id }) => id);
        return [type, await readHeads(reader, type, ids)] as const;
      }),
    ),
  );
  return some.map(({ id }, i) => heads.get(types[i] ?? '')?.get(id));
}

function supportingOf(resources: readonly Resource[]): Set<string> {
  const found = new Set<string>();
  eachPart(resources, ({ reference }) => {
    const target = parseReference(reference);
    if (target && supporting.has(target.type)) found.add(String(reference));
  });
  return found;
}

function parseWanted(query: URLSearchParams): Wanted {
  const wanted: Wanted = { types: undefined, since: undefined, count: mostCount, cursor: undefined };
  for (const [name, value] of query) {
    if (name === '_count') {
      if (!/^[1-9]\d{0,8}$/.test(value)) throw invalidField(name, '_count must be a whole number above 0');
      wanted.count = Math.min(Number(value), mostCount);
    } else if (name === '_since') {
      wanted.since = parseDate(value)?.low;
      if (wanted.since === undefined) throw invalidField(name, `${value} is not a date`);
    } else if (name === '_type') {
      wanted.types = [...new Set(value.split(','))];
      const wrong = wanted.types.find((type) => !isResourceType(type));
      if (wrong !== undefined) throw invalidField(name, `${wrong} is not a resource type`);
    } else if (name === '_cursor') wanted.cursor = value;
    else if (name !== '_format' && name !== '_pretty') {
      throw invalidField(name, `Unknown parameter ${name} of $everything`);
    }
  }
  return wanted;
}

/**
 * The parameters of an operation that was called by POST, as they would stand in the URL.
 * Its body is Parameters, or none.
 * @throws {Refusal} invalid, unsupported-media-type
 */
export function operationParameters(
  request: Pick<HttpRequest, 'bytes' | 'headers' | 'query'>,
): URLSearchParams {
  const { bytes, query } = request;
  if (bytes() === undefined) return query;
  const { resourceType, parameter = [] } = fieldsOf(parseBody(request));
  if (resourceType !== 'Parameters' || !Array.isArray(parameter)) {
    throw new Refusal('invalid', 'The body must be a Parameters resource');
  }
  const all = new URLSearchParams([...query]);
  for (const [i, one] of parameter.entries()) {
    const { name, ...rest } = fieldsOf(one);
    const [value] = Object.entries(rest).flatMap(([key, found]) => (key.startsWith('value') ? [found] : []));
    if (
      typeof name !== 'string' ||
      value === undefined ||
      (typeof value === 'object' && !isExactNumber(value))
    ) {
      throw invalidField(`Parameters.parameter[${i}]`, 'A parameter has a name and a primitive value');
    }
    all.append(name, isExactNumber(value) ? value.rawJSON : String(value));
  }
  return all;
}
