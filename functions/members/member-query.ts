import { profileTypes } from '../../shared/fhir/resource.ts';
import { normaliseText, wordsOf } from '../../shared/index/text.ts';
import { type InvitationState, invitationStates } from '../../shared/invitation/states.ts';
import { invalidField } from '../../shared/refusal.ts';
import { parseControls } from '../../shared/search/controls.ts';
import type { Filter } from '../../shared/search/filter.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import type { MemberGrouping } from './member-order.ts';

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
    filters: parseSearch('ProjectMembership', conditions).filters,
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
