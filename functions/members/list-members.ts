import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { type Invitation, standingOf, stateOf, withInvitation } from '../../shared/invitation/state.ts';
import { invitationStates } from '../../shared/invitation/states.ts';
import { invalidField } from '../../shared/refusal.ts';
import type { Reader } from '../../shared/search/reader.ts';
import { runSearch } from '../../shared/search/run-search.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

/** A page of memberships as a FHIR searchset. */
export interface MemberList {
  resourceType: 'Bundle';
  type: 'searchset';
  entry?: { resource: Resource }[];
  link: { relation: 'self' | 'next'; url: string }[];
}

const parameters = new Set(['profile-type', 'state', '_count', '_cursor']);

/**
 * The members of the Project, those invited included.
 * @param query `profile-type`, `state` (of the invitation), `_count`, `_cursor`
 * @throws {Refusal} invalid
 */
export async function listMembers(
  services: Services,
  caller: Caller<'administrator'>,
  query: URLSearchParams,
): Promise<MemberList> {
  await admit(services, caller, []);
  const state = parseState(query);
  const search = new URLSearchParams(query);
  search.delete('state');
  // Whoever has not accepted is not active: the index leaves out most of the others.
  if (state !== undefined && state !== 'accepted') search.set('active', 'false');

  const invitations = new Map<string, Invitation | undefined>();
  const { table } = services;
  const reader: Reader = {
    table,
    project: caller.project,
    async see(membership) {
      const key = keys.resource(caller.project, 'ProjectMembership', membership.id);
      const invitation = standingOf((await table.read([key])).get(key))?.invitation;
      invitations.set(membership.id, invitation);
      const isWanted =
        state === undefined || (invitation !== undefined && stateOf(invitation, services.now()) === state);
      return isWanted ? membership : undefined;
    },
  };
  const page = await runSearch(reader, parseSearch('ProjectMembership', search));
  const entry = page.resources.map((resource) => ({
    resource: withInvitation(resource, invitations.get(resource.id), services.now()),
  }));
  const url = `${services.baseUrl}/admin/projects/${caller.project}/members`;
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    ...(entry.length > 0 ? { entry } : {}),
    link: [
      { relation: 'self', url: withQuery(url, query) },
      ...(page.next === undefined
        ? []
        : [{ relation: 'next' as const, url: nextUrl(url, query, page.next) }]),
    ],
  };
}

function parseState(query: URLSearchParams): string | undefined {
  for (const name of query.keys()) {
    if (!parameters.has(name)) throw invalidField(name, `Unknown parameter ${name}`);
  }
  const state = query.get('state') ?? undefined;
  if (state !== undefined && !invitationStates.some((one) => one === state)) {
    throw invalidField('state', `state must be one of ${invitationStates.join(', ')}`);
  }
  return state;
}

function nextUrl(url: string, query: URLSearchParams, cursor: string): string {
  const following = new URLSearchParams(query);
  following.set('_cursor', cursor);
  return withQuery(url, following);
}

function withQuery(url: string, query: URLSearchParams): string {
  return query.size === 0 ? url : `${url}?${query}`;
}
