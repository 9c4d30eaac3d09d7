import { isDeepStrictEqual } from 'node:util';
import { profileTypes } from '../../../shared/base/resource.ts';
import { errorText } from '../../../shared/base/values.ts';
import type { Item } from '../../../shared/carry/table/item.ts';
import { keys, versionPrefix } from '../../../shared/carry/table/keys.ts';
import { exportFileOf, partKeys } from '../../../shared/records/export/export-job.ts';
import { hasEmptyString, withoutEmpty } from '../../../shared/store/fhir/fields.ts';
import { entriesIn, historyIndex, indexPartition } from '../../../shared/store/index/index-items.ts';
import { indexedId } from '../../../shared/store/index/key-range.ts';
import { inlineResource, isStanding } from '../../../shared/store/items/content.ts';
import { type Look, nameOf, ownerIn, resourceOf, type TableFinding, type TableRule, when } from '../rule.ts';

/** What the content says of itself is what its key says. */
export const contentAgrees: TableRule = async (item, [project = '', type, id], look) => {
  try {
    const resource = await resourceOf(look.table, item);
    if (!resource) return when(item.content !== undefined, 'it is deleted and has content');
    const { meta } = resource;
    return [
      ...when(resource.resourceType !== type || resource.id !== id, 'its content is of another resource'),
      ...when(meta.versionId !== item.versionId, 'its content is of another version'),
      ...when(meta.lastUpdated !== item.lastUpdated, 'its content is of another time'),
      ...when(meta.project !== undefined && meta.project !== project, 'its content is of another Project'),
      ...when(withoutEmpty(resource) !== resource, 'its content has elements that hold nothing'),
      ...when(type !== 'Binary' && hasEmptyString(resource), 'its content has empty strings'),
    ];
  } catch (error) {
    return [{ text: `its content does not open: ${errorText(error)}` }];
  }
};

/** The bytes of a Binary are whole. */
export const bytesAreThere: TableRule = async (item, [project = '', type = '', id = ''], look) => {
  const { bytesOf, byteParts } = item;
  const wanted = Array.from({ length: Number(byteParts ?? 0) }, (_, part) =>
    keys.part(project, type, id, String(bytesOf), part),
  );
  const found = await Promise.all(wanted.map((key) => look.get(key)));
  return when(found.includes(undefined), 'some of its bytes are missing');
};

/** Every value leads to the resource. */
export const isIndexed: TableRule = async (item, [project = ''], look) => {
  const wanted = [...(await indexOr(look, project, item)).values()];
  const found = await Promise.all(wanted.map((one) => look.get(one)));
  const missing = wanted.filter((one, i) => {
    const there = found[i];
    return !there || (one.ttl !== undefined && there.ttl === undefined);
  });
  const [first] = missing;
  if (!first) return [];
  const text = `${missing.length} of ${wanted.length} index items are missing, such as ${first.pk}`;
  // What leads to an audit entry is written when its record is read.
  return [item.untidy === true ? { text, settlesAtMs: look.settlesAt(item.lastUpdated) } : { text }];
};

/** The head is the newest of its versions, and each names the one before. */
export const historyIsComplete: TableRule = async (item, [project = '', type = '', id = ''], look) => {
  const attributes = ['versionId', 'lastUpdated', 'follows', 'doubtful', 'deleted'];
  const versions = await look.all(item.pk, versionPrefix, attributes);
  const byId = new Map(versions.map((one) => [String(one.versionId), one]));
  const own = byId.get(String(item.versionId));
  const stored = own && (await look.get(own));
  if (!stored) return [{ text: `its version ${item.versionId} is not among its versions` }];
  const isSame = isDeepStrictEqual([stored.content, stored.parts], [item.content, item.parts]);
  const findings = when(!isSame, `its content is not that of its version ${item.versionId}`);
  const reached = new Set<string>();
  for (let at: Item | undefined = own; at; ) {
    reached.add(String(at.versionId));
    if (typeof at.follows !== 'string' || reached.has(at.follows)) break;
    const before = byId.get(at.follows);
    findings.push(...when(!before, `its version ${at.follows} is missing`));
    at = before;
  }
  const left = versions.filter(({ versionId, doubtful }) => doubtful && !reached.has(String(versionId)));
  if (left.length > 0 && !(await look.isBeingWritten(project, type, id)))
    findings.push({ text: `${left.length} versions of writes that were cut off are left` });
  const committed = versions.filter(({ doubtful, versionId }) => !doubtful || reached.has(String(versionId)));
  const listed = await Promise.all(
    committed.map((one) =>
      look.get(
        historyIndex.key(project, {
          ...{ type, id },
          ...{ lastUpdated: String(one.lastUpdated), versionId: String(one.versionId) },
        }),
      ),
    ),
  );
  const unlisted = listed.filter((one) => !one).length;
  return [...findings, ...when(unlisted > 0, `the history of the type lacks ${unlisted} of its versions`)];
};

/** Its `refs` is the number of memberships that use it as profile; what was deleted is used by none. */
export const usesAreCounted: TableRule = async (item, [project = '', type = '', id = ''], look) => {
  if (!holders.has(type)) return [];
  const profile = { reference: `${type}/${id}` };
  const found = await membershipsIn(look, project, 'profile', { profile });
  const isUse = (one: Item) =>
    inlineResource('ProjectMembership', one)?.profile.reference === profile.reference;
  const used = found.filter(isUse).length;
  const isLive = isStanding(item);
  return [
    ...when(
      isLive && Number(item.refs ?? 0) !== used,
      `${used} memberships use it, counted are ${item.refs}`,
    ),
    ...when(!isLive && used > 0, `it is deleted, and ${used} memberships use it`),
  ];
};

/** Of people and of programs. */
const holders: ReadonlySet<string> = new Set([...profileTypes, 'Bot', 'ClientApplication']);

/** The heads of the memberships to which an index leads from a value. */
export async function membershipsIn(
  look: Look,
  project: string,
  index: string,
  having: Readonly<Record<string, unknown>>,
): Promise<Item[]> {
  const type = 'ProjectMembership';
  const like = { resourceType: type, id: '', meta: { versionId: '', lastUpdated: '' }, ...having };
  const partitions = new Set(
    entriesIn(index, like).map(({ bucket }) => indexPartition(project, type, index, bucket).pk),
  );
  const items = await Promise.all([...partitions].map((pk) => look.all(pk, '', ['v'])));
  const ids = new Set(items.flat().map(({ sk }) => indexedId(sk)));
  const heads = await Promise.all([...ids].map((id) => look.get(keys.resource(project, type, id))));
  return heads.filter(isStanding);
}

/** Whoever has the key of a resource's other items has a resource. */
export const headIsThere: TableRule = async (item, _, look) => {
  const { project, type, id } = ownerIn(item);
  if ((await look.get(keys.resource(project, type, id))) !== undefined) return [];
  const isWritten = await look.isBeingWritten(project, type, id);
  return when(!isWritten, `there is no ${type}/${id}`);
};

/** What an index item leads to has that value; what lists a version has that version. */
export const indexLeads: TableRule = async (item, [project = '', type, index], look) => {
  if (index === '_history') return historyLeads(item, project, type ?? '', look);
  const [ofCompartment = '', id = ''] = [item.sk.split('#')[0], indexedId(item.sk)];
  const of = type === '_all' ? ofCompartment : (type ?? '');
  const head = await look.get(keys.resource(project, of, id));
  if (head && (await indexOr(look, project, head)).has(nameOf(item))) return [];
  if (await look.isBeingWritten(project, of, id)) return [];
  const text = head ? `${of}/${id} has no such value` : `there is no ${of}/${id}`;
  return [head ? { text, settlesAtMs: look.settlesAt(head.lastUpdated) } : { text }];
};

/** A content that does not open is found where it lies. */
async function indexOr(look: Look, project: string, head: Item): Promise<ReadonlyMap<string, Item>> {
  return look.indexOf(project, head).catch(() => new Map());
}

async function historyLeads(item: Item, project: string, type: string, look: Look): Promise<TableFinding[]> {
  const at = historyIndex.parse(item.sk);
  if ((await look.get(keys.version(project, type, at.id, at))) !== undefined) return [];
  return when(
    !(await look.isBeingWritten(project, type, at.id)),
    `there is no such version of ${type}/${at.id}`,
  );
}

/** A piece of a content is named by a state that counts it. */
export const partIsNamed: TableRule = async (
  _,
  [project = '', type = '', id = '', versionId, part],
  look,
) => {
  if (type === 'Job') {
    const job = await look.get(keys.job(project, id));
    return when(!(Number(job?.[`${versionId}Parts`]) > Number(part)), `no job ${id} has it`);
  }
  // Parts of an export that no file names are those of a broken-off step: they expire.
  if (type === 'Export') return [];
  const attributes = ['versionId', 'parts', 'bytesOf', 'byteParts'];
  const states = await look.all(keys.resource(project, type, id).pk, versionPrefix, attributes);
  const isNamed = states.some(
    (one) =>
      (one.versionId === versionId && Number(one.parts ?? 0) > Number(part)) ||
      (one.bytesOf === versionId && Number(one.byteParts ?? 0) > Number(part)),
  );
  if (isNamed || (await look.isBeingWritten(project, type, id))) return [];
  return [{ text: `no version of ${type}/${id} has it` }];
};

/** What an export names can be fetched. */
export const exportHasParts: TableRule = async (item, [project = '', id = ''], look) => {
  const job = await look.get(keys.export(project, id));
  if (!job || job.status === 'cancelled') return [];
  const wanted = partKeys({ project, id }, exportFileOf(item));
  const found = await Promise.all(wanted.map((key) => look.get(key)));
  return when(found.includes(undefined), 'a part of it is not there');
};

/** Younger than any sweep leaves it. */
const sweptWithinMs = 3_600_000;

/** A note of a write goes when the write is whole or undone. */
export const noteIsYoung: TableRule = async ({ atMs, project, type, id }) => [
  {
    text: `a write of ${type}/${id} in ${project} was cut off and has not been swept`,
    settlesAtMs: Number(atMs) + sweptWithinMs,
  },
];
