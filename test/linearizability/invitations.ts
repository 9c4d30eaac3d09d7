import { randomUUID } from 'node:crypto';
import { keys } from '../../shared/carry/table/keys.ts';
import { standingOf } from '../../shared/identity/invitations/state.ts';
import { invitationLink, linkSecret } from '../../shared/identity/sign-in/links.ts';
import { invitationOf } from '../spec/inviting.ts';
import type { Answer } from '../spec/portico.ts';
import { password } from '../spec/signing-in.ts';
import { newLogin } from '../walks/walk.ts';
import type { Ground } from './ground.ts';
import { bound, idOf, type Kind, type Outcome, pick, type Request, unknown } from './kind.ts';
import type { Model } from './search.ts';

/** One person, whom two Projects invite. */
type Input = { project: 0 | 1 } & (
  | { do: 'invite'; admin?: boolean; upsert: boolean }
  | { do: 'read' | 'revoke' | 'resend' | 'remove'; id: string }
  | { do: 'change'; id: string; admin?: boolean; active?: boolean }
  | { do: 'accept'; id: string; user: string }
  | { do: 'follow link'; id: string; generation: number }
  | { do: 'delete profile'; profile: string }
);

interface Output extends Outcome {
  member?: Omit<Member, 'generation'> & { user: string; profile: string };
  /** What an invite says that it did. */
  did?: string;
}

interface Member {
  id: string;
  state: string;
  admin: boolean;
  active: boolean;
  /** Of the link that is live. */
  generation: number;
}

/** How a Project knows the person; the profile outlives the membership. */
interface Place {
  profile?: string;
  member?: Member;
  /** Profiles and memberships that are no more, and never come back. */
  gone: readonly string[];
}

interface State {
  user: string;
  places: readonly [Place, Place];
}

/** What an operation does that takes effect now. */
interface Effect {
  status: number;
  place: Place;
  did?: string;
}

function effectOf(place: Place, input: Input): Effect {
  const { member, profile, gone } = place;
  const no = (status: number): Effect => ({ status, place });
  const becomes = (change: Partial<Member>, did?: string): Effect => {
    const next = { ...(member as Member), ...change };
    return { status: 200, place: { ...place, member: next }, ...(did ? { did } : {}) };
  };
  if (input.do === 'invite') {
    const { admin, upsert } = input;
    const first = { id: unknown, state: 'pending', active: false, generation: 1, admin: admin ?? false };
    if (!member)
      return { status: 200, did: 'created', place: { profile: profile ?? unknown, member: first, gone } };
    const rights = { admin: admin ?? (upsert ? member.admin : false) };
    const renewed = { ...rights, state: 'pending', generation: member.generation + 1 };
    if (member.state === 'revoked') return becomes(renewed, 'renewed');
    if (member.state === 'accepted') return upsert ? becomes(rights, 'updated') : no(409);
    if (rights.admin === member.admin) return becomes({}, 'kept');
    return upsert ? becomes(renewed, 'renewed') : no(409);
  }
  if (input.do === 'delete profile') {
    if (profile !== input.profile) return no(200);
    return member ? no(409) : { status: 200, place: { gone: [...gone, profile] } };
  }
  const accepted = { state: 'accepted', active: true };
  if (input.do === 'follow link') {
    const isLive =
      member?.id === input.id && member.state === 'pending' && member.generation === input.generation;
    return isLive ? becomes(accepted) : no(400);
  }
  const isIt = member?.id === input.id;
  if (input.do === 'accept') {
    const isOpen = isIt && (member.active || member.state === 'pending');
    return isOpen ? becomes(accepted) : no(400);
  }
  if (!isIt) return no(404);
  switch (input.do) {
    case 'read':
      return becomes({});
    case 'remove':
      return { status: 200, place: { ...(profile ? { profile } : {}), gone: [...gone, member.id] } };
    case 'change':
      if (input.active && member.state !== 'accepted') return no(400);
      return becomes({ admin: input.admin ?? member.admin, active: input.active ?? member.active });
    case 'resend':
      if (member.state === 'accepted') return no(409);
      return becomes({ state: 'pending', generation: member.generation + 1 });
    case 'revoke':
      if (member.state === 'pending') return becomes({ state: 'revoked' });
      return no(member.state === 'accepted' ? 409 : 404);
  }
}

/** The state when all that an answer says is so. */
function told(state: State, input: Input, { place, did }: Effect, output: Output | undefined): State[] {
  const at = (user: string, now: Place): State => {
    const { places } = state;
    return { user, places: input.project === 0 ? [now, places[1]] : [places[0], now] };
  };
  const said = output?.member;
  if (!said) return [at(state.user, place)];
  const { member } = place;
  const user = bound(state.user, said.user);
  const profile = bound(place.profile ?? '', said.profile);
  const id = bound(member?.id ?? '', said.id);
  if (!member || !user || !profile || !id || output?.did !== did) return [];
  if (place.gone.includes(profile) || place.gone.includes(id)) return [];
  const isSame = said.state === member.state && said.admin === member.admin && said.active === member.active;
  return isSame ? [at(user, { ...place, profile, member: { ...member, id } })] : [];
}

export const invitationModel: Model<State, Input, Output> = {
  initial: { user: unknown, places: [{ gone: [] }, { gone: [] }] },
  step(state, input, output) {
    const effect = effectOf(state.places[input.project], input);
    // Of two who sign in, or follow a link, while the membership changes, one is asked to begin again.
    const mayGiveUp = (input.do === 'accept' || input.do === 'follow link') && output?.status === 400;
    if (mayGiveUp) return [state];
    return output === undefined || output.status === effect.status ? told(state, input, effect, output) : [];
  },
};

/** @param of whose table it is, and the tokens of the two Projects */
export function invitations(of: Ground): Kind<State, Input, Output> {
  const { table, projects, rings } = of;
  const email = `person-${randomUUID()}@example.com`;
  const members: { project: 0 | 1; id: string; user: string; profile: string }[] = [];
  const profiles = new Map<string, 0 | 1>();

  return {
    model: invitationModel,
    async choose({ what, which, how }) {
      const one = pick(members, which);
      const project = (how % 5 === 0 ? 1 : 0) as 0 | 1;
      const kind = what % 16;
      if (!one || kind < 5) {
        const admin = [undefined, true, false][which % 3];
        return { do: 'invite', project, upsert: how % 2 === 0, ...(admin === undefined ? {} : { admin }) };
      }
      const { id, user, profile } = one;
      const at = { project: one.project, id };
      if (kind < 8) return { do: 'accept', ...at, user };
      if (kind === 8) {
        const standing = standingOf(await stored(at));
        return standing && { do: 'follow link', ...at, generation: standing.invitation.generation };
      }
      if (kind === 9) return { do: 'delete profile', project: at.project, profile };
      if (kind === 10) return { do: 'change', ...at, admin: how % 2 === 0 };
      if (kind === 11) return { do: 'change', ...at, active: how % 2 === 0 };
      const plain = (['read', 'revoke', 'resend', 'remove'] as const)[kind - 12];
      return plain && { do: plain, ...at };
    },
    async request(input): Promise<Request> {
      const { id: project = '', token = '' } = projects[input.project] ?? {};
      const admin = `admin/projects/${project}`;
      switch (input.do) {
        case 'invite': {
          const { admin: isAdmin, upsert } = input;
          const body = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email };
          return {
            method: 'POST',
            path: `${admin}/invite`,
            token,
            body: { ...body, admin: isAdmin, upsert },
          };
        }
        case 'accept': {
          const login = await newLogin({ table, now: Date.now }, input.user);
          return { method: 'POST', path: 'auth/profile', token: null, body: { login, profile: input.id } };
        }
        case 'follow link': {
          const standing = standingOf(await stored(input));
          const link = {
            ...{ project, membershipId: input.id, generation: input.generation },
            expiresAtMs: standing?.invitation.expiresAtMs ?? 0,
          };
          const secret = await linkSecret(rings['invitation-link'], invitationLink(link));
          const body = { id: invitationLink(link).id, secret, password };
          return { method: 'POST', path: 'auth/setpassword', token: null, body };
        }
        case 'delete profile':
          return { method: 'DELETE', path: `fhir/R4/Practitioner/${input.profile}`, token };
        case 'change': {
          const { admin: isAdmin, active } = input;
          const body = { admin: isAdmin, active };
          return { method: 'POST', path: `${admin}/members/${input.id}`, token, body };
        }
        default: {
          const method = { read: 'GET', remove: 'DELETE', revoke: 'DELETE', resend: 'POST' }[input.do];
          const isInvitation = input.do === 'revoke' || input.do === 'resend';
          return { method, path: `${admin}/members/${input.id}${isInvitation ? '/invitation' : ''}`, token };
        }
      }
    },
    read({ project }, { status, json }) {
      if (status !== 200 || json?.resourceType !== 'ProjectMembership') return { status };
      const { id, active, admin = false } = json;
      const [user, profile] = [idOf(json.user), idOf(json.profile)];
      const { state, outcome } = invitationOf({ json } as Answer);
      if (!members.some((one) => one.id === id)) members.push({ project, id, user, profile });
      profiles.set(profile, project);
      const member = { id, user, profile, state: String(state), admin, active };
      return { status, member, ...(typeof outcome === 'string' ? { did: outcome } : {}) };
    },
    last: () => members.map(({ project, id }) => ({ do: 'read', project, id })),
  };

  async function stored({ project, id }: { project: 0 | 1; id: string }) {
    const key = keys.resource(projects[project]?.id ?? '', 'ProjectMembership', id);
    return (await table.read([key])).get(key);
  }
}
