import { indexedId } from '../../shared/index/places.ts';
import type { Stretch } from '../../shared/index/span.ts';
import { cut, normaliseText } from '../../shared/index/text.ts';
import { invitationOf, stateOf } from '../../shared/invitation/state.ts';
import type { InvitationState } from '../../shared/invitation/states.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import { readHeads } from '../../shared/store/heads.ts';
import { sortKeysIn } from '../../shared/store/index-keys.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Owner } from '../../shared/store/stretch-query.ts';

/** What a list of members can be sorted by beside name and address; of equal ones the name decides. */
export type MemberGrouping = 'kind' | 'policy' | 'role' | 'state';

/** Comes after every text that a person writes. */
export const afterAll = '\u{10ffff}';

/** The sort keys of all index items in stretches. */
export async function readSortKeys(of: Owner, stretches: readonly Stretch[]): Promise<string[]> {
  const read = stretches.map(async (stretch) => {
    const found: string[] = [];
    for await (const page of sortKeysIn(of, stretch)) found.push(...page);
    return found;
  });
  return (await Promise.all(read)).flat();
}

/**
 * What the members of a Project are put in order by, by their ids.
 * @param typeOf the type of a member's profile
 * @returns equal for members that are equal in it
 */
export async function groupsBy(
  of: Owner,
  by: MemberGrouping,
  typeOf: (id: string) => string,
  nowMs: number,
): Promise<(id: string) => string> {
  switch (by) {
    case 'kind':
      return typeOf;
    case 'role': {
      const administrators = await idsFor(of, { admin: 'true' });
      return (id) => (administrators.has(id) ? '0' : '1');
    }
    case 'state':
      return byState(of, typeOf, nowMs);
    case 'policy': {
      const names = await policyNames(of);
      return (id) => names.get(id) ?? afterAll;
    }
  }
}

const ranks: Record<InvitationState, string> = { accepted: '4', pending: '1', expired: '2', revoked: '3' };

/**
 * Active, invited, expired, revoked, deactivated; programs, which nobody invites, at the end. Only of those who are
 * not active is the invitation read, so that these are bounded by the budget of the request.
 */
async function byState(
  of: Owner,
  typeOf: (id: string) => string,
  nowMs: number,
): Promise<(id: string) => string> {
  const inactive = [...(await idsFor(of, { active: 'false' }))];
  of.table.budget.require('items', inactive.length);
  const heads = await readHeads(of, of.type, inactive);
  return (id) => {
    if (/^(?:Bot|ClientApplication)$/.test(typeOf(id))) return '5';
    const invitation = heads.has(id) ? invitationOf(heads.get(id)) : undefined;
    return invitation ? ranks[stateOf(invitation, nowMs)] : '0';
  };
}

/** The name of the policy of each member that has one; of several the first name. */
async function policyNames({ table, project, type }: Owner): Promise<Map<string, string>> {
  const policies = { table, project, type: 'AccessPolicy' };
  const ids = await idsFor(policies, { _lastUpdated: 'gt1900' });
  const heads = await readHeads(policies, policies.type, [...ids]);
  const names = new Map<string, string>();
  await Promise.all(
    [...heads].map(async ([id, head]) => {
      const name = cut(normaliseText(String(inlineResource('AccessPolicy', head)?.name ?? '')));
      const holders = await idsFor({ table, project, type }, { 'access-policy': `AccessPolicy/${id}` });
      for (const holder of holders) {
        const known = names.get(holder);
        if (known === undefined || name < known) names.set(holder, name);
      }
    }),
  );
  return names;
}

async function idsFor(of: Owner, query: Record<string, string>): Promise<Set<string>> {
  const [filter] = parseSearch(of.type, new URLSearchParams(query)).filters;
  return new Set((await readSortKeys(of, filter?.stretches ?? [])).map(indexedId));
}
