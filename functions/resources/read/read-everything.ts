import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { stringifyJson } from '../../../shared/fhir/json.ts';
import { parseReference, type Resource } from '../../../shared/fhir/resource.ts';
import { isObject } from '../../../shared/fields-of.ts';
import { parseDate } from '../../../shared/index/date.ts';
import { compartmentStretch, patientsOf } from '../../../shared/index/patient-index.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import type { Reader } from '../../../shared/search/reader.ts';
import type { Services } from '../../../shared/services.ts';
import {
  type Candidate,
  candidatesInTurn,
  inBatches,
  openInTurn,
  type TurnPosition,
} from '../../../shared/store/candidates.ts';
import { type Opened, openState } from '../../../shared/store/content.ts';
import { isSortKey, readCursor, writeCursor } from '../../../shared/store/cursor.ts';
import { batch, readHeads } from '../../../shared/store/heads.ts';
import { type Positioned, takePage } from '../../../shared/store/page.ts';
import { type Bundle, entryOf, linkTo } from './bundle.ts';
import { Gathered, readReferenced } from './included.ts';
import { readResource } from './read-resource.ts';
import { readerOf } from './reader.ts';

const mostCount = 1000;

/** What a record refers to beside the patient, and cannot be read without. */
const supporting = new Set([
  'Device',
  'Location',
  'Medication',
  'Organization',
  'Practitioner',
  'PractitionerRole',
  'Substance',
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
  const after = readCursor(listing, wanted.cursor, parsePlace);
  const { resource: patient } = await readResource(services, caller, { type: 'Patient', id });
  const { actor } = await admit(services, caller, []);
  const reader = readerOf(services, actor);
  const record = recordOf(reader, patient, wanted, after);
  const page = await takePage(record, { count: wanted.count, sizeOf: ({ characters }) => characters });

  const resources = page.values.map(({ resource }) => resource);
  const gathered = new Gathered(page.values.reduce((sum, { characters }) => sum + characters, 0));
  const known = new Set(resources.map(({ resourceType, id: own }) => `${resourceType}/${own}`));
  await readReferenced(reader, [...supportingOf(resources)], known, gathered);
  const following = new URLSearchParams(query);
  if (page.next !== undefined) following.set('_cursor', writeCursor(listing, page.next));
  const entry = [
    ...resources.map((resource) => entryOf(services, resource, 'match')),
    ...[...gathered.resources.values()].map((resource) => entryOf(services, resource, 'include')),
  ];
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    ...(entry.length > 0 ? { entry } : {}),
    link: [
      linkTo(services.baseUrl, path, query, 'self'),
      ...(page.next === undefined ? [] : [linkTo(services.baseUrl, path, following, 'next' as const)]),
    ],
  };
}

/** Behind the Patient, which comes first, or behind an item of the compartment's index. */
type Place = 'patient' | TurnPosition;

function parsePlace(value: unknown): Place | undefined {
  if (value === 'patient') return value;
  if (typeof value !== 'object' || value === null || !('stretch' in value) || !('sk' in value))
    return undefined;
  const { stretch, sk } = value;
  return typeof stretch === 'string' && isSortKey(sk) ? { stretch, sk } : undefined;
}

/** The Patient, and whatever refers to it, as far as the caller may see it. */
async function* recordOf(
  reader: Reader,
  patient: Resource,
  { types, since }: Wanted,
  after: Place | undefined,
): AsyncGenerator<Positioned<Opened, Place>> {
  const reference = `Patient/${patient.id}`;
  const isWanted = (resource: Resource) => since === undefined || resource.meta.lastUpdated >= since;
  if (after === undefined && (types === undefined || types.includes('Patient')) && isWanted(patient)) {
    yield { position: 'patient', value: { resource: patient, characters: stringifyJson(patient).length } };
  }
  const stretches = types
    ? types.map((type) => compartmentStretch(reference, type))
    : [compartmentStretch(reference)];
  const owner = { table: reader.table, project: reader.project, type: 'Patient' };
  const opened = openInTurn(owner, stretches, batch, after === 'patient' ? undefined : after);
  for await (const some of inBatches(candidatesInTurn(opened), () => batch)) {
    const states = await openAll(reader, some);
    for (const [i, { stretch, sk }] of some.entries()) {
      const { resource, characters = 0 } = states[i] ?? {};
      const isOther = resource && !(resource.resourceType === 'Patient' && resource.id === patient.id);
      const seen = isOther && isWanted(resource) ? await reader.see(resource, []) : undefined;
      // By what the caller sees: a hidden element must not tell whose record it belongs to.
      const isOfPatient = seen !== undefined && patientsOf(seen).has(reference);
      yield { position: { stretch, sk }, value: isOfPatient ? { resource: seen, characters } : undefined };
    }
  }
}

/** The resources of a batch, in its order; their types stand in the sort keys. */
async function openAll(reader: Reader, some: readonly Candidate[]): Promise<(Opened | undefined)[]> {
  const types = some.map(({ sk }) => sk.slice(0, sk.indexOf('#')));
  const heads = new Map(
    await Promise.all(
      [...new Set(types)].map(async (type) => {
        const ids = some.filter((_, i) => types[i] === type).map(({ id }) => id);
        return [type, await readHeads(reader, type, ids)] as const;
      }),
    ),
  );
  const states: (Opened | undefined)[] = [];
  for (const [i, { id }] of some.entries()) {
    const head = heads.get(types[i] ?? '')?.get(id);
    states.push(head && (await openState(reader, head)));
  }
  return states;
}

function supportingOf(resources: readonly Resource[]): Set<string> {
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    if (!isObject(value)) return;
    const { reference } = value;
    const target = parseReference(reference);
    if (target && supporting.has(target.type)) found.add(String(reference));
    for (const part of Object.values(value)) collect(part);
  };
  for (const resource of resources) collect(resource);
  return found;
}

/** @throws {Refusal} invalid, with the parameter as expression */
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
      throw new Refusal('invalid', `Unknown parameter ${name}`, {
        issues: [{ text: `Unknown parameter ${name} of $everything`, expression: name }],
      });
    }
  }
  return wanted;
}
