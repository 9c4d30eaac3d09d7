import { createHash } from 'node:crypto';
import { isAdministrative, type Resource, referenceOf } from '../../base/resource.ts';
import { isAmong, type SortKeys } from '../../carry/table/pages.ts';
import { eachPart } from './value.ts';

/** Which part of a HumanName a word stands in. */
export type NamePart = 'family' | 'given' | 'other';

/** How a sort key says where a word stands. */
const partLetters: Readonly<Record<NamePart, string>> = { family: 'f', given: 'g', other: 'x' };

/** A range of sort keys in one bucket of an index, each a partition: where the items of a searched value are. */
export interface BucketRange extends SortKeys {
  bucket: string;
  /** Only words of this part of a name. */
  part?: NamePart;
}

export interface KeyRange extends BucketRange {
  index: string;
}

/** One index item of a resource: its bucket, and what stands before the id in its sort key. */
export interface IndexEntry {
  bucket: string;
  sort?: string;
}

/** The index that is none: its bucket is the id of the one resource in it. */
export const idIndex = '_id';

/** The index over all types by which what belongs to a Patient is found. */
export const compartmentIndex = '_compartment';

/** By which a key range is known in a cursor, and ordered among others: nothing of its values shows. */
export function nameOfRange({ index, bucket, prefix, from, to, part }: KeyRange): string {
  return bucketOf(
    JSON.stringify([index, bucket, prefix ?? 0, from ?? 0, to ?? 0, ...(part === undefined ? [] : [part])]),
  );
}

export function keyRangesOf(index: string, ranges: readonly BucketRange[]): KeyRange[] {
  return ranges.map((range) => ({ index, ...range }));
}

export function isInside(range: BucketRange, bucket: string, sk: string): boolean {
  const { part } = range;
  return range.bucket === bucket && (part === undefined || isOfPart(sk, part)) && isAmong(sk, range);
}

/**
 * What stands in the sort key of a name's word, before the id: the word, and the parts that it stands in.
 * So one item leads to it from searches for any part.
 */
export function wordOfParts(word: string, parts: ReadonlySet<NamePart>): string {
  const letters = [...parts].map((part) => partLetters[part]);
  return `${word}#${letters.sort().join('')}`;
}

/** Whether the word of an item stands in a part. Items of earlier releases do not say: it may. */
function isOfPart(sk: string, part: NamePart): boolean {
  const letters = /#([fgx]+)#[^#]*$/.exec(sk)?.[1];
  return letters === undefined || letters.includes(partLetters[part]);
}

/** The sort key of an index item: the value, where it has an order, and the id. */
export function sortKeyOf({ sort }: IndexEntry, id: string): string {
  return sort === undefined ? id : `${sort}#${id}`;
}

/** What stands before the id in an index item's sort key; empty for nothing. */
export function sortOf(sk: string): string {
  return sk.slice(0, Math.max(0, sk.lastIndexOf('#')));
}

/** The id at the end of a sort key. */
export function indexedId(sk: string): string {
  return sk.slice(sk.lastIndexOf('#') + 1);
}

/** A bucket for an exact value: of bounded length, and no personal data in a key. */
export function bucketOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Tells apart the values of one bucket: that two of them meet is as good as impossible. */
export function nearHash(text: string): string {
  return bucketOf(text).slice(0, 10);
}

/** Values that grow with time would all be written to one partition: spread over this many. */
export const shards = 4;

/** The Patients that a resource refers to in whatever element, and a Patient itself; as references. */
export function patientsOf(resource: Resource): Set<string> {
  const found = new Set<string>();
  // What is administrative belongs to no patient's record.
  if (isAdministrative(resource.resourceType)) return found;
  if (resource.resourceType === 'Patient') found.add(`Patient/${resource.id}`);
  eachPart(resource, ({ reference }) => {
    const id = typeof reference === 'string' ? literal.exec(reference)?.[1] : undefined;
    if (id !== undefined) found.add(`Patient/${id}`);
  });
  return found;
}

/** A Patient is in its own compartment, and found there by its id: it has no item for that. */
export function compartmentEntries(resource: Resource): IndexEntry[] {
  const own = referenceOf(resource);
  return [...patientsOf(resource)]
    .filter((patient) => patient !== own)
    .map((patient) => compartmentEntry(patient, resource));
}

export function compartmentEntry(patient: string, { resourceType }: Resource): IndexEntry {
  return { bucket: bucketOf(patient), sort: resourceType };
}

/** Where everything of one type is that belongs to a Patient. @param patient `Patient/id` */
export function compartmentRanges(patient: string, type: string): KeyRange[] {
  const own = type === 'Patient' ? [{ index: idIndex, bucket: patient.slice('Patient/'.length) }] : [];
  return [compartmentRange(patient, type), ...own];
}

/** Where everything is that refers to a Patient; of one type, when it is named. @param patient `Patient/id` */
export function compartmentRange(patient: string, type?: string): KeyRange {
  const prefix = type === undefined ? undefined : `${type}#`;
  return { index: compartmentIndex, bucket: bucketOf(patient), prefix };
}

const literal = /^Patient\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;
