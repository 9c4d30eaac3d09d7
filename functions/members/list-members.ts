import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { noteShown } from '../../shared/disclosure.ts';
import type { MembershipAccess, ProjectMembership } from '../../shared/fhir/membership.ts';
import type { Reference, Resource } from '../../shared/fhir/resource.ts';
import type { MemberPlace } from '../../shared/index/member-place.ts';
import { memberPlace } from '../../shared/index/places.ts';
import { matchesAll } from '../../shared/search/filter.ts';
import type { Services } from '../../shared/services.ts';
import { inBatches } from '../../shared/store/candidates.ts';
import { isSortKey, readCursor, writeCursor } from '../../shared/store/cursor.ts';
import { readHeads } from '../../shared/store/heads.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { type Listed, listDirectory } from './directory.ts';
import { type MemberQuery, parseMemberQuery } from './member-query.ts';
import { memberView } from './member-view.ts';

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
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  const { found: heads } = await admit(services, caller, [projectKey]);
  const projectHead = heads.get(projectKey);
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
function isPlaced(membership: ProjectMembership, place: MemberPlace | undefined): boolean {
  const { name, address } = memberPlace(membership);
  return place?.name === name && place.address === address;
}

/** References to policies with the names of what they refer to. */
async function withPolicyNames(
  { table }: Services,
  project: string,
  members: readonly Resource[],
): Promise<Resource[]> {
  const keyOf = (reference: string): Key | undefined => {
    const id = /^AccessPolicy\/([A-Za-z0-9.-]{1,64})$/.exec(reference)?.[1];
    return id === undefined ? undefined : keys.resource(project, 'AccessPolicy', id);
  };
  const wanted = members.flatMap(policiesOf).flatMap(({ reference }) => keyOf(reference) ?? []);
  const policies = await table.read(wanted);
  const named = (policy: Reference): Reference => {
    const key = keyOf(policy.reference);
    const name = key && inlineResource('AccessPolicy', policies.get(key))?.name;
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
  const following = new URLSearchParams(query);
  following.set('_cursor', cursor);
  following.delete('_total');
  return withQuery(url, following);
}

function withQuery(url: string, query: URLSearchParams): string {
  return query.size === 0 ? url : `${url}?${query}`;
}
