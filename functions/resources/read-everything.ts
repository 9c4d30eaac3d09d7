import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { parseReference, type Resource } from '../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { mostReads } from '../../shared/search/budget.ts';
import { type Candidate, candidatesInTurn, inBatches, openInTurn } from '../../shared/search/candidates.ts';
import { readCursor, writeCursor } from '../../shared/search/cursor.ts';
import { parseDate } from '../../shared/search/date.ts';
import { batch, openHead, readHeads } from '../../shared/search/heads.ts';
import { compartmentStretch, patientsOf } from '../../shared/search/patient-index.ts';
import { readPosition, writePosition } from '../../shared/search/position.ts';
import type { Reader } from '../../shared/search/reader.ts';
import { isResourceType } from '../../shared/search/registry.ts';
import type { Services } from '../../shared/services.ts';
import { type Bundle, linkTo } from './bundle.ts';
import { Gathered, readReferenced } from './included.ts';
import { readResource } from './read-resource.ts';
import { readerOf } from './reader.ts';
import { entryOf } from './search-resources.ts';

const mostCount = 1000;
const mostCharacters = 3_000_000;

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
  const { resource: patient } = await readResource(services, caller, { type: 'Patient', id });
  const { actor } = await admit(services, caller, []);
  const reader = readerOf(services, actor);
  const path = `Patient/${id}/$everything`;
  const binding = JSON.stringify([path, wanted.types, wanted.since]);
  const page = await readPage(reader, patient, wanted, binding);

  const gathered = new Gathered(page.characters);
  const known = new Set(page.resources.map(({ resourceType, id: own }) => `${resourceType}/${own}`));
  await readReferenced(reader, [...supportingOf(page.resources)], known, gathered);
  const following = new URLSearchParams(query);
  if (page.next !== undefined) following.set('_cursor', page.next);
  const entry = [
    ...page.resources.map((resource) => entryOf(services, resource, 'match')),
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

interface Page {
  resources: Resource[];
  characters: number;
  next: string | undefined;
}

/** Ends early rather than reading too much: the next page goes on. */
async function readPage(
  reader: Reader,
  patient: Resource,
  { types, since, count, cursor }: Wanted,
  binding: string,
): Promise<Page> {
  const start = cursor === undefined ? undefined : readPosition(readCursor(reader.project, binding, cursor));
  const { of, after } = { of: ownerOf(reader), after: start?.by === 'turn' ? start : undefined };
  const reference = `Patient/${patient.id}`;
  const isWanted = (resource: Resource) => since === undefined || resource.meta.lastUpdated >= since;
  const page: Page = { resources: [], characters: 0, next: undefined };
  const isNamed = types === undefined || types.includes('Patient');
  if (cursor === undefined && isNamed && isWanted(patient)) page.resources.push(patient);

  const stretches = types
    ? types.map((type) => compartmentStretch(reference, type))
    : [compartmentStretch(reference)];
  const candidates = candidatesInTurn(openInTurn(of, stretches, batch, after));
  let last: Candidate | undefined;
  let read = 0;
  const end = () => {
    page.next =
      last &&
      writeCursor(reader.project, binding, writePosition({ by: 'turn', source: '', ...placeOf(last) }));
    return page;
  };
  for await (const some of inBatches(candidates, () => batch)) {
    if (read >= mostReads) return end();
    read += some.length;
    for (const [i, opened] of (await openAll(reader, some)).entries()) {
      const { resource, characters } = opened ?? {};
      const isOther = resource && !(resource.resourceType === 'Patient' && resource.id === patient.id);
      const seen = isOther && isWanted(resource) ? await reader.see(resource, []) : undefined;
      // By what the caller sees: a hidden element must not tell whose record it belongs to.
      if (seen && patientsOf(seen).has(reference)) {
        const isFull = page.characters + (characters ?? 0) > mostCharacters && page.resources.length > 0;
        if (page.resources.length >= count || isFull) return end();
        page.resources.push(seen);
        page.characters += characters ?? 0;
      }
      last = some[i];
    }
  }
  return page;
}

function placeOf({ stretch, sk }: Candidate) {
  return { stretch, sk };
}

function ownerOf({ table, project }: Reader) {
  return { table, project, type: 'Patient' };
}

/** The resources of a batch, in its order; their types stand in the sort keys. */
async function openAll(reader: Reader, some: readonly Candidate[]) {
  const types = some.map(({ sk }) => sk.slice(0, sk.indexOf('#')));
  const heads = new Map(
    await Promise.all(
      [...new Set(types)].map(
        async (type) =>
          [
            type,
            await readHeads(
              reader,
              type,
              some.filter((_, i) => types[i] === type).map(({ id }) => id),
            ),
          ] as const,
      ),
    ),
  );
  return Promise.all(
    some.map(async ({ id }, i) => {
      const head = heads.get(types[i] ?? '')?.get(id);
      return head && openHead(reader, head);
    }),
  );
}

function supportingOf(resources: readonly Resource[]): Set<string> {
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { reference } = value as { reference?: unknown };
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
