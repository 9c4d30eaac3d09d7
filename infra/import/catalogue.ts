import { createHash } from 'node:crypto';
import { fieldsOf, isObject } from '../../shared/base/values.ts';
import { linksIn, relinked } from '../../shared/records/bundle/entries.ts';
import { isResourceType } from '../../shared/store/index/registry.ts';
import { type Entry, isReadable, readEntries, type Unreadable } from './read-entries.ts';

/**
 * The id that a resource of a data set gets, whenever and wherever it is loaded: a UUID of version 8 (RFC 9562
 * section 5.8) from the names of both.
 * @param source the resource's name in its data set, such as `Patient/1` or `urn:uuid:…`
 */
export function derivedId(dataSet: string, type: string, source: string): string {
  const hash = createHash('sha256').update(JSON.stringify([dataSet, type, source]));
  const bytes = hash.digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A resource of the data set. */
export interface Known {
  /** Where it is stored, as `Type/id`: under its derived id, unless the service had what stands for it. */
  reference: string;
  /** Of its content when it was first met. */
  digest: string;
}

/** Which resources there are, by every name that a reference may use. Some 200 bytes of memory a resource. */
export interface Catalogue {
  names: ReadonlyMap<string, Known>;
  /** By the condition of an entry that is created only if nothing matches it (`Organization?identifier=…`). */
  conditions: ReadonlyMap<string, Known>;
  /** How many entries there are, readable or not. */
  count: number;
}

/** Goes through all files once. @param told what is there, as far as it was read */
export async function catalogue(
  dataSet: string,
  files: readonly string[],
  told: (count: number) => void,
): Promise<Catalogue> {
  const names = new Map<string, Known>();
  const conditions = new Map<string, Known>();
  let count = 0;
  for (const file of files) {
    for await (const entry of readEntries(file)) {
      count += 1;
      told(count);
      const known = isReadable(entry) ? knownOf(dataSet, entry) : undefined;
      if (!known || !isReadable(entry)) continue;
      const condition = conditionOf(entry);
      // Of two entries with one condition the first is created, and both are it.
      const meant = conditions.get(condition ?? '') ?? known;
      if (condition !== undefined) conditions.set(condition, meant);
      for (const name of namesOf(entry)) if (!names.has(name)) names.set(name, meant);
    }
  }
  return { names, conditions, count };
}

/** @returns undefined when it is nothing that can be loaded */
export function knownOf(dataSet: string, entry: Entry): Known | undefined {
  const { resourceType: type, id } = fieldsOf(entry.resource);
  if (typeof type !== 'string' || !isResourceType(type)) return undefined;
  const hash = createHash('sha256').update(JSON.stringify(entry.resource));
  const digest = hash.digest('base64url').slice(0, 22);
  const source = typeof id === 'string' ? `${type}/${id}` : (entry.fullUrl ?? digest);
  return { reference: `${type}/${derivedId(dataSet, type, source)}`, digest };
}

function namesOf(entry: Entry): string[] {
  const { resourceType, id } = fieldsOf(entry.resource);
  return [
    ...(typeof id === 'string' ? [`${resourceType}/${id}`] : []),
    ...(entry.fullUrl === undefined ? [] : [entry.fullUrl]),
  ];
}

/** `Type?query`, as references say it. */
export function conditionOf({ request, resource }: Entry): string | undefined {
  const { ifNoneExist } = request ?? {};
  if (typeof ifNoneExist !== 'string' || ifNoneExist === '') return undefined;
  const { resourceType } = fieldsOf(resource);
  return `${resourceType}?${ifNoneExist.replace(/^.*\?/, '')}`;
}

/** Why an entry is not loaded at all; undefined when it may be. */
export function refusalOf(dataSet: string, all: Catalogue, entry: Entry | Unreadable): string | undefined {
  if (!isReadable(entry)) return entry.reason;
  const { method } = entry.request ?? {};
  if (method !== undefined && method !== 'POST' && method !== 'PUT') {
    return `Only what creates resources is loaded: ${String(method).slice(0, 10)} is not`;
  }
  const known = knownOf(dataSet, entry);
  if (!known) return 'Not a resource of FHIR R4';
  const isConditional = conditionOf(entry) !== undefined;
  if (!isConditional && namesOf(entry).some((name) => all.names.get(name)?.digest !== known.digest)) {
    return 'Another resource of this data set has the same id: load one of them with another --data-set';
  }
  return undefined;
}

/** What a name of the data set stands for in the service, as `Type/id`; undefined when it is none. */
export type Resolve = (name: string) => string | undefined;

/**
 * A resource in which every link to another one of the data set names it as it is stored: references, other
 * elements that hold a URL, links of the narrative. What is no name of the data set stays as it is.
 * @returns beside it each reference into the data set, or with a condition, that nothing was found for
 */
export function rewriteReferences<T>(resource: T, resolve: Resolve): { resource: T; missed: string[] } {
  // A version of the source is none of the copy.
  const found = (link: string) => resolve(link) ?? resolve(link.replace(/\/_history\/[^/]+$/, ''));
  const known = new Map<string, string>();
  for (const link of linksIn(resource)) {
    const target = found(link);
    if (target !== undefined) known.set(link, target);
  }
  const isElsewhere = /^(?:https?:|#)/i;
  const missed = [...referencesIn(resource)].filter((name) => !known.has(name) && !isElsewhere.test(name));
  return { resource: relinked(resource, known), missed };
}

/** Literal references, each once. */
function referencesIn(value: unknown, references = new Set<string>()): Set<string> {
  if (!isObject(value)) return references;
  const { reference } = value;
  if (typeof reference === 'string') references.add(reference);
  for (const part of Object.values(value)) referencesIn(part, references);
  return references;
}
