import { createHash } from 'node:crypto';
import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { placeOfEntry } from '../../carry/table/entry-id.ts';
import {
  earlierRunKey,
  entrySort,
  type Key,
  keys,
  logKey,
  nameOfKey,
  shardOf,
} from '../../carry/table/keys.ts';
import {
  bucketOf,
  compartmentEntries,
  compartmentEntry,
  compartmentIndex,
  type IndexEntry,
  idIndex,
  type KeyRange,
  shards,
  sortKeyOf,
} from './key-range.ts';
import { kinds } from './kinds.ts';
import { parametersOf, type SearchParameter, servedParameterSets } from './registry.ts';
import { searchParameters, usCoreParameters } from './search-parameters.ts';
import { cut, retiredTextEntries } from './text.ts';
import { fieldOf, normaliseText, textOf, valuesOf } from './value.ts';

export function tooManyValues(type: string, most: number): Refusal {
  const text = `The ${type} has more than ${most} values that searches look at (names, identifiers, references, codes, dates)`;
  return new Refusal('too-costly', `${text}: divide it`);
}

/**
 * The keys of all index items of a resource, each once. Together they lead to the resource from
 * every value that a search parameter sees in it, and from every Patient that it is about; audit entries
 * have an index of their own.
 * @param most more than so many are refused
 * @throws {Refusal} too-costly
 */
export function indexKeys(
  project: string,
  resource: Resource,
  most = Number.POSITIVE_INFINITY,
): Map<string, Key> {
  const found = new Map<string, Key>();
  const add = (key: Key) => found.set(nameOfKey(key), key);
  const { resourceType: type } = resource;
  if (type === 'AuditEvent') {
    for (const key of auditKeys(project, resource)) add(key);
    return found;
  }
  const keyOf = keysIn(project, resource);
  const addAll = (index: string, entries: readonly IndexEntry[]) => {
    for (const entry of entries) {
      add(keyOf(index, entry));
      if (found.size > most) throw tooManyValues(type, most);
    }
  };
  for (const parameter of parametersOf(type).values()) {
    if (parameter.index !== undefined && !parameter.within)
      addAll(parameter.index, entriesOf(parameter, resource));
  }
  addAll(compartmentIndex, compartmentEntries(resource));
  return found;
}

/** The entries of a resource in one index, whichever parameters share it. */
export function entriesIn(index: string, resource: Resource): IndexEntry[] {
  if (index === idIndex) return [{ bucket: resource.id }];
  if (index === compartmentIndex) return compartmentEntries(resource);
  return [...parametersOf(resource.resourceType).values()]
    .filter((parameter) => parameter.index === index && !parameter.within)
    .flatMap((parameter) => entriesOf(parameter, resource));
}

function entriesOf(parameter: SearchParameter, resource: Resource): IndexEntry[] {
  const entries = kinds[parameter.type].entries(valuesOf(resource, parameter), resource.id);
  // The index that the list of members is read from.
  if (resource.resourceType !== 'ProjectMembership' || parameter.index !== 'profile-type') return entries;
  const { name, address } = memberSortOf(resource);
  return entries.map(({ bucket, sort = '' }) => ({ bucket, sort: [sort, name, address].join(between) }));
}

function keysIn(project: string, { resourceType, id }: Resource) {
  return (index: string, entry: IndexEntry): Key => ({
    ...indexPartition(project, resourceType, index, entry.bucket),
    sk: sortKeyOf(entry, id),
  });
}

/** The partition of a bucket; the compartments of all types are in one index. */
export function indexPartition(project: string, type: string, index: string, bucket: string): { pk: string } {
  const { pk } = keys.index(project, index === compartmentIndex ? '_all' : type, index, bucket, '');
  return { pk };
}

/** To be raised when index items are made in another way from the same parameters. */
const form = 6;

/** Names what index items resources have in this release: another name, other items. */
export function indexVersion(): string {
  const sets = servedParameterSets();
  const text = JSON.stringify([form, searchParameters, ...(sets === '' ? [] : [sets, usCoreParameters])]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

/**
 * What the list of members is sorted and searched by. It stands before the id in the index item by kind of profile:
 * the members of a kind are listed by name, and found by either, without an item more and without reading one of them.
 */
export interface MemberSort {
  name: string;
  /** Empty for those who have none. */
  address: string;
}

/** Stands in no normalised text, and before everything that can follow a name. */
const between = '\t';

export function memberSortOf(membership: Resource): MemberSort {
  const display = textOf(fieldOf(membership.profile, 'display')) ?? '';
  const address = textOf(membership.userName) ?? '';
  return { name: cut(normaliseText(display)), address: normaliseText(address) };
}

/** What the sort key of such an item tells; undefined for one of an earlier release, which holds the id alone. */
export function parseMemberSort(sk: string): MemberSort | undefined {
  const [, name, address] = sk.slice(0, sk.lastIndexOf('#')).split(between);
  return name === undefined || address === undefined ? undefined : { name, address };
}

/** Whether each word of the text begins a word of the name, or the address, or its domain. */
export function isMemberFound({ name, address }: MemberSort, words: readonly string[]): boolean {
  const known = [...name.split(/[\s,]+/), address, address.slice(address.indexOf('@') + 1)];
  return words.every((word) => known.some((one) => one.startsWith(word)));
}

/** By whom, on what, of which kind: what leads to audit entries, beside their time. */
export const entryIndexes = ['agent', 'entity', 'patient', 'subtype'] as const;

/** A partition that lists entries of one value by their time, unlike the indexes of other types. */
export function entryPartition(project: string, index: string, bucket: string): string {
  return keys.index(project, 'AuditEvent', `${index}@`, bucket, '').pk;
}

/**
 * The keys of what leads to an audit entry. An entry of an earlier release, whose id does not tell where
 * it is, is listed by its time and among the runs of its Bot too.
 */
function auditKeys(project: string, event: Resource): Key[] {
  const place = placeOfEntry(event.id);
  // The records of runs are found by Bot and time, and read there.
  if (place?.botId !== undefined) return [];
  const { id } = event;
  const sk = entrySort(String(event.recorded), id);
  const values = entryIndexes.flatMap((index) =>
    entriesIn(index, event).map(({ bucket }) => ({ pk: entryPartition(project, index, bucket), sk })),
  );
  if (place) return values;
  const botId = botOfRun(event);
  const ofRun = botId === undefined ? [] : [earlierRunKey(project, botId, sk, id)];
  return [...values, logKey(project, sk, id), ...ofRun];
}

function botOfRun(event: Resource): string | undefined {
  const { subtype, entity } = event;
  if (!Array.isArray(subtype) || !subtype.some((one) => fieldsOf(one).code === 'execute')) return undefined;
  const { what } = fieldsOf(fieldsOf(entity)[0]);
  return /^Bot\/([^/#]+)$/.exec(String(fieldsOf(what).reference))?.[1];
}

/** One version of a resource. */
export interface VersionAt {
  type: string;
  id: string;
  lastUpdated: string;
  versionId: string;
}

const history = '_history';

/** The index entries by which the history of a type finds its versions, in the order of time. */
export const historyIndex = {
  key: (project: string, { type, id, lastUpdated, versionId }: VersionAt): Key =>
    keys.index(project, type, history, String(shardOf(id, shards)), `${lastUpdated}#${id}#${versionId}`),
  parse(sk: string): Omit<VersionAt, 'type'> {
    const [lastUpdated = '', id = '', versionId = ''] = sk.split('#');
    return { lastUpdated, id, versionId };
  },
};

/** Where all entries of a type are. */
export function historyShards(): KeyRange[] {
  return Array.from({ length: shards }, (_, shard) => ({ index: history, bucket: String(shard) }));
}

/**
 * The keys of index items that earlier releases wrote for a resource and this one does without. No search
 * reads them; some hold words of names.
 */
export function retiredKeys(project: string, resource: Resource): Key[] {
  const { resourceType: type, id } = resource;
  if (type === 'AuditEvent') return [];
  const keyOf = keysIn(project, resource);
  const ofParameters = [...parametersOf(type).values()].flatMap((parameter) => {
    const { code, index = code, within } = parameter;
    // What now lies within another parameter had an index of its own.
    return retiredEntries(parameter, resource).map((entry) => keyOf(within ? code : index, entry));
  });
  if (type !== 'Patient') return ofParameters;
  return [...ofParameters, keyOf(compartmentIndex, compartmentEntry(`Patient/${id}`, resource))];
}

function retiredEntries(parameter: SearchParameter, resource: Resource): IndexEntry[] {
  const { code, index, type, within } = parameter;
  // Items of tokens and references did not tell of system, case and type.
  const wasPlain = type === 'token' || type === 'reference';
  const earlier = () => {
    const entries = entriesOf(parameter, resource);
    return wasPlain ? entries.map(({ bucket }) => ({ bucket })) : entries;
  };
  const texts = type === 'string' ? retiredTextEntries(valuesOf(resource, parameter)) : [];
  const isOfProject = resource.resourceType === 'ProjectMembership' && code === 'project';
  if (within || isOfProject) return [...earlier(), ...texts];
  if (type === 'string') return texts;
  if (code === 'deceased' && resource.resourceType === 'Patient') return [{ bucket: bucketOf('false') }];
  return index !== undefined && wasPlain ? earlier() : [];
}
