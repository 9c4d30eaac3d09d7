import type { Reference, Resource } from '../../base/resource.ts';
import { noteShown } from '../../carry/disclosure.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { isSortKey } from '../../carry/table/keys.ts';
import type { MembershipAccess, ProjectMembership } from '../../store/fhir/membership.ts';
import {
  isMemberFound,
  type MemberSort,
  memberSortOf,
  parseMemberSort,
} from '../../store/index/index-items.ts';
import { indexedId, type KeyRange } from '../../store/index/key-range.ts';
import { inlineResource } from '../../store/items/content.ts';
import { readCursor, writeCursor } from '../../store/items/page.ts';
import { candidatesMerged, countEntries, inBatches, type TypeTable } from '../../store/items/read-ranges.ts';
import { readHeads } from '../../store/items/versions.ts';
import { type Filter, matchesAll } from '../../store/search/filter.ts';
import { parseSearch } from '../../store/search/search-request.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit, policyKey } from '../gate/actor.ts';
import { memberView } from './member.ts';
import { afterAll, groupsBy, type MemberQuery, parseMemberQuery, readSortKeys } from './member-query.ts';

/** A member as the index tells of it: nothing of it has been read yet. */
interface Listed {
  id: string;
  /** Undefined of an item of an earlier release. */
  place: MemberSort | undefined;
  /** What the list is sorted by; different for each. */
  rank: string;
}

/**
 * The members that the index names for a query, in its order. By name alone it is read as far as the page goes;
 * to search, to sort otherwise or to combine conditions, the keys of all members of the kinds are.
 * @returns `total` where the index alone tells how many there are
 */
async function listDirectory(
  of: TypeTable,
  query: MemberQuery,
  { after, nowMs }: { after: string | undefined; nowMs: number },
): Promise<{ listed: AsyncIterable<Listed>; total: number | undefined }> {
  const { words, filters, by, descending, count, withTotal, state } = query;
  const keyRanges = keyRangesOfTypes(query.types);
  if (words.length === 0 && filters.length === 0 && by === 'name') {
    const options = { newestFirst: descending, after };
    return {
      listed: named(candidatesMerged(of, keyRanges, Math.min(count + 1, 100), options)),
      total: withTotal && state === undefined ? await countEntries(of, keyRanges) : undefined,
    };
  }
  const [kinds, ...among] = await Promise.all([
    readKinds(of, query.types),
    ...filters.map((filter) => idsOf(of, filter)),
  ]);
  const found = [...kinds.keys()].filter((sk) => {
    const place = parseMemberSort(sk);
    return (
      place &&
      isMemberFound(place, words) &&
      among.every((ids) => ids === undefined || ids.has(indexedId(sk)))
    );
  });
  const rankOf = await ranking(of, by, kinds, nowMs);
  const ranked = found.map((sk) => ({ id: indexedId(sk), place: parseMemberSort(sk), rank: rankOf(sk) }));
  ranked.sort((a, b) => (a.rank < b.rank === descending ? 1 : -1));
  const isAfter = ({ rank }: Listed) => after === undefined || (descending ? rank < after : rank > after);
  return { listed: inTurn(ranked.filter(isAfter)), total: state === undefined ? ranked.length : undefined };
}

function keyRangesOfTypes(types: readonly string[]): readonly KeyRange[] {
  const query = new URLSearchParams({ 'profile-type': types.join(',') });
  return parseSearch('ProjectMembership', query, undefined).filters[0]?.keyRanges ?? [];
}

/** Undefined when no index tells: every candidate is matched against its membership anyway. */
async function idsOf(of: TypeTable, { keyRanges }: Filter): Promise<Set<string> | undefined> {
  return keyRanges && new Set((await readSortKeys(of, keyRanges)).map(indexedId));
}

/** All members of some types: the type of each, by its sort key. */
async function readKinds(of: TypeTable, types: readonly string[]): Promise<Map<string, string>> {
  const read = types.map(async (type) =>
    (await readSortKeys(of, keyRangesOfTypes([type]))).map((sk) => [sk, type] as const),
  );
  return new Map((await Promise.all(read)).flat());
}

/** What the members are sorted by, from their sort keys. */
async function ranking(
  of: TypeTable,
  by: MemberQuery['by'],
  kinds: ReadonlyMap<string, string>,
  nowMs: number,
): Promise<(sk: string) => string> {
  if (by === 'name') return (sk) => sk;
  if (by === 'address') return byAddress;
  const types = new Map([...kinds].map(([sk, type]) => [indexedId(sk), type]));
  const groupOf = await groupsBy(of, by, (id) => types.get(id) ?? '', nowMs);
  return (sk) => `${groupOf(indexedId(sk))}${sk}`;
}

/** Those without an address come last. */
function byAddress(sk: string): string {
  const { name = '', address = '' } = parseMemberSort(sk) ?? {};
  return `${address === '' ? afterAll : address}\t${name}#${indexedId(sk)}`;
}

async function* named(candidates: AsyncIterable<{ id: string; sk: string }>): AsyncGenerator<Listed> {
  for await (const { id, sk } of candidates) yield { id, place: parseMemberSort(sk), rank: sk };
}

async function* inTurn(all: readonly Listed[]): AsyncGenerator<Listed> {
  yield* all;
}

/** A page of memberships as a FHIR searchset. */
export interface MemberList {
  resourceType: 'Bundle';
  type: 'searchset';
  total?: number;
  entry?: { resource: Resource }[];
  link: { relation: 'self' | 'next'; url: string }[];
}

const type = 'ProjectMembership';

/**
 * The members of the Project, those invited included, by name unless `_sort` says otherwise.
 * @param query `profile-type`, `text` (name or address), `state` (of the invitation), `admin`, `access-policy`,
 *   `emergency-policy`, `_sort`, `_count`, `_total`, `_cursor`
 * @throws {Refusal} invalid; too-costly
 */
export async function listMembers(
  services: Services,
  caller: Caller<'administrator'>,
  query: URLSearchParams,
): Promise<MemberList> {
  const { projectHead } = await admit(services, caller, []);
  const asked = parseMemberQuery(query);
  const { project } = caller;
  const listing = { project, name: asked.canonical };
  const after = readCursor(listing, asked.cursor, (position) => (isSortKey(position) ? position : undefined));
  const { listed, total } = await listDirectory({ table: services.table, project, type }, asked, {
    after,
    nowMs: services.now(),
  });

  const found: { resource: Resource; rank: string }[] = [];
  for await (const member of membersOf(services, { project, projectHead }, listed, asked)) {
    found.push(member);
    if (found.length > asked.count) break;
  }
  const page = found.slice(0, asked.count);
  const entry = await withPolicyNames(
    services,
    project,
    page.map(({ resource }) => resource),
  );
  for (const resource of entry) if (services.disclosure) noteShown(services.disclosure, resource);
  const isAll = after === undefined && found.length <= asked.count;
  const known = isAll ? page.length : total;
  const url = `${services.baseUrl}/admin/projects/${project}/members`;
  const last = found.length > asked.count ? page.at(-1) : undefined;
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    ...(asked.withTotal && known !== undefined ? { total: known } : {}),
    ...(entry.length > 0 ? { entry: entry.map((resource) => ({ resource })) } : {}),
    link: [
      { relation: 'self', url: withQuery(url, query) },
      ...(last
        ? [{ relation: 'next' as const, url: nextUrl(url, query, writeCursor(listing, last.rank)) }]
        : []),
    ],
  };
}

/** The memberships that are what the query asks for, read as they are asked for. */
async function* membersOf(
  { table, now }: Services,
  { project, projectHead }: { project: string; projectHead: Item | undefined },
  listed: AsyncIterable<Listed>,
  { filters, state, count }: MemberQuery,
): AsyncGenerator<{ resource: Resource; rank: string }> {
  for await (const some of inBatches(listed, () => Math.min(count + 1, 100))) {
    const heads = await readHeads(
      { table, project },
      type,
      some.map(({ id }) => id),
    );
    for (const { id, rank, place } of some) {
      const head = heads.get(id);
      const membership = inlineResource(type, head);
      const view = memberView(head, projectHead, now());
      if (!membership || !view || !matchesAll(membership, filters)) continue;
      if (!isPlaced(membership, place) || (state !== undefined && view.state !== state)) continue;
      yield { resource: view.resource, rank };
    }
  }
}

/** An item of an earlier state, not removed yet, would name a member a second time. */
function isPlaced(membership: ProjectMembership, place: MemberSort | undefined): boolean {
  const { name, address } = memberSortOf(membership);
  return place?.name === name && place.address === address;
}

/** References to policies with the names of what they refer to. */
async function withPolicyNames(
  { table }: Services,
  project: string,
  members: readonly Resource[],
): Promise<Resource[]> {
  const wanted = members.flatMap(policiesOf).map(({ reference }) => policyKey(project, reference));
  const policies = await table.read(wanted);
  const named = (policy: Reference): Reference => {
    const head = policies.get(policyKey(project, policy.reference));
    const name = inlineResource('AccessPolicy', head)?.name;
    return typeof name === 'string' ? { ...policy, display: name } : policy;
  };
  return members.map((member) => ({
    ...member,
    ...(member.accessPolicy ? { accessPolicy: named(member.accessPolicy as Reference) } : {}),
    ...(member.emergencyPolicy ? { emergencyPolicy: named(member.emergencyPolicy as Reference) } : {}),
    ...(member.access
      ? { access: accessOf(member).map((one) => ({ ...one, policy: named(one.policy) })) }
      : {}),
  }));
}

function policiesOf(member: Resource): Reference[] {
  const own = [member.accessPolicy, member.emergencyPolicy].filter(Boolean) as Reference[];
  return [...own, ...accessOf(member).map(({ policy }) => policy)];
}

function accessOf({ access = [] }: Resource): MembershipAccess[] {
  return access as MembershipAccess[];
}

function nextUrl(url: string, query: URLSearchParams, cursor: string): string {
  const following = new URLSearchParams([...query]);
  following.set('_cursor', cursor);
  following.delete('_total');
  return withQuery(url, following);
}

function withQuery(url: string, query: URLSearchParams): string {
  return query.size === 0 ? url : `${url}?${query}`;
}
