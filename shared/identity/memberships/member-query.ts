import { invalidField } from '../../base/refusal.ts';
import { profileTypes } from '../../base/resource.ts';
import { indexedId, type KeyRange } from '../../store/index/key-range.ts';
import { cut, wordsOf } from '../../store/index/text.ts';
import { normaliseText } from '../../store/index/value.ts';
import { inlineResource } from '../../store/items/content.ts';
import { sortKeysIn, type TypeTable } from '../../store/items/read-ranges.ts';
import { readHeads } from '../../store/items/versions.ts';
import type { Filter } from '../../store/search/filter.ts';
import { parseControls, parseSearch } from '../../store/search/search-request.ts';
import { invitationOf, stateOf } from '../invitations/state.ts';
import { type InvitationState, invitationStates } from '../invitations/states.ts';

/** What the list of members is asked for, checked. */
export interface MemberQuery {
  /** Types of profiles. */
  types: readonly string[];
  /** Words that the name or the address begins with; none for everybody. */
  words: readonly string[];
  state: InvitationState | undefined;
  /** Conditions on the memberships themselves: role, policy. */
  filters: readonly Filter[];
  by: 'name' | 'address' | MemberGrouping;
  descending: boolean;
  count: number;
  withTotal: boolean;
  cursor: string | undefined;
  /** Equal for pages of one list. */
  canonical: string;
}

/** Search parameters of memberships. */
const conditionsNamed = ['admin', 'access-policy', 'emergency-policy'];
const parameters = new Set([
  ...['profile-type', 'state', 'text', ...conditionsNamed],
  ...['_sort', '_count', '_total', '_cursor'],
]);
const programTypes = ['Bot', 'ClientApplication'];
const orders = ['name', 'address', 'kind', 'policy', 'role', 'state'] as const;
const longestText = 200;
const mostWords = 10;

/** @throws {Refusal} invalid, with the parameter as expression: unknown ones too */
export function parseMemberQuery(query: URLSearchParams): MemberQuery {
  for (const name of query.keys()) {
    if (!parameters.has(name)) throw invalidField(name, `Unknown parameter ${name}`);
  }
  const order = query.get('_sort') ?? 'name';
  const state = query.get('state');
  const conditions = new URLSearchParams([...query].filter(([name]) => conditionsNamed.includes(name)));
  // Whoever has not accepted is not active: the index leaves out most of the others.
  if (state !== null && state !== 'accepted') conditions.set('active', 'false');
  return {
    types: parseTypes(query.get('profile-type')),
    words: parseWords(query.get('text') ?? ''),
    state: state === null ? undefined : oneOf('state', invitationStates, state),
    filters: parseSearch('ProjectMembership', conditions, undefined).filters,
    by: oneOf('_sort', orders, order.replace(/^-/, '')),
    descending: order.startsWith('-'),
    ...totalAndCount(query),
    cursor: query.get('_cursor') ?? undefined,
    canonical: canonicalOf(query),
  };
}

function totalAndCount(query: URLSearchParams) {
  const controls = new URLSearchParams([...query].filter(([name]) => name === '_count' || name === '_total'));
  const { count, total } = parseControls('ProjectMembership', controls);
  return { count: Math.max(count, 1), withTotal: total !== 'none' };
}

function parseTypes(value: string | null): readonly string[] {
  const all = [...profileTypes, ...programTypes];
  if (value === null) return all;
  return [...new Set(value.split(','))].map((type) => oneOf('profile-type', all, type));
}

function parseWords(text: string): readonly string[] {
  const words = wordsOf(normaliseText(text));
  if (text.length > longestText || words.length > mostWords) {
    throw invalidField('text', `text has at most ${mostWords} words and ${longestText} characters`);
  }
  return words;
}

function canonicalOf(query: URLSearchParams): string {
  const given = [...query].filter(([name]) => !['_cursor', '_count', '_total'].includes(name));
  return JSON.stringify(['members', given.map((pair) => pair.join('=')).sort()]);
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidField(name, `${name} must be one of ${known.join(', ')}`);
}

/** What a list of members can be sorted by beside name and address; of equal ones the name decides. */
type MemberGrouping = 'kind' | 'policy' | 'role' | 'state';

/** Comes after every text that a person writes. */
export const afterAll = '\u{10ffff}';

/** The sort keys of all index items in keyRanges. */
export async function readSortKeys(of: TypeTable, keyRanges: readonly KeyRange[]): Promise<string[]> {
  const read = keyRanges.map(async (range) => {
    const found: string[] = [];
    for await (const page of sortKeysIn(of, range)) found.push(...page);
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
  of: TypeTable,
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
  of: TypeTable,
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
async function policyNames({ table, project, type }: TypeTable): Promise<Map<string, string>> {
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

async function idsFor(of: TypeTable, query: Record<string, string>): Promise<Set<string>> {
  const [filter] = parseSearch(of.type, new URLSearchParams(Object.entries(query)), undefined).filters;
  return new Set((await readSortKeys(of, filter?.keyRanges ?? [])).map(indexedId));
}
