import { newAddress, signingIn } from '../spec/signing-in.ts';
import { newLogin } from '../walks/walk.ts';
import type { Ground } from './ground.ts';
import { idOf, type Kind, type Outcome } from './kind.ts';
import type { Model } from './search.ts';

type Who = 0 | 1;

/** The two who administer a Project, each signed in. */
type Input = { who: Who } & (
  | { do: 'change'; admin?: boolean; active?: boolean }
  | { do: 'remove' }
  | { do: 'read' }
  /** By the token that the person has had from the beginning. */
  | { do: 'me' }
);

interface Output extends Outcome {
  admin?: boolean;
  active?: boolean;
}

interface Administrator {
  admin: boolean;
  active: boolean;
  isIn: boolean;
  /** It ends with the activity, for good. */
  isSignedIn: boolean;
}

type State = readonly [Administrator, Administrator];

const first: Administrator = { admin: true, active: true, isIn: true, isSignedIn: true };
const isCounted = ({ isIn, active, admin }: Administrator) => isIn && active && admin;

export const administratorModel: Model<State, Input, Output> = {
  initial: [first, first],
  step(state, input, output) {
    const { status, next } = effectOf(state, input);
    if (output && output.status !== status) return [];
    const shown = next[input.who];
    const isSame =
      output?.admin === undefined || (output.admin === shown.admin && output.active === shown.active);
    return isSame ? [next] : [];
  },
};

function effectOf(state: State, input: Input): { status: number; next: State } {
  const one = state[input.who];
  if (input.do === 'me') return { status: one.isSignedIn ? 200 : 401, next: state };
  if (!one.isIn) return { status: 404, next: state };
  if (input.do === 'read') return { status: 200, next: state };
  const { admin = one.admin, active = one.active } = input.do === 'change' ? input : { active: false };
  const isIn = input.do !== 'remove';
  const changed = { admin, active, isIn, isSignedIn: one.isSignedIn && active };
  const next: State = input.who === 0 ? [changed, state[1]] : [state[0], changed];
  // Nobody would be left to administer.
  const isLast = isCounted(one) && !next.some(isCounted);
  return isLast ? { status: 400, next: state } : { status: 200, next };
}

/** In the second Project, whose administrators before these go. */
export async function administrators({
  portico,
  table,
  projects,
}: Ground): Promise<Kind<State, Input, Output>> {
  const { id: project, token } = projects[1];
  const admin = `admin/projects/${project}`;
  const at = signingIn(portico);
  const people = [await join(), await join()] as const;
  await leaveAlone();

  return {
    model: administratorModel,
    choose({ what, which, how }) {
      const who = (which % 2) as Who;
      switch (what % 8) {
        case 0:
          return { do: 'remove', who };
        case 1:
        case 2:
        case 3:
          return { do: 'change', who, admin: how % 3 === 0 };
        case 4:
        case 5:
          return { do: 'change', who, active: how % 3 === 0 };
        case 6:
          return { do: 'read', who };
        default:
          return { do: 'me', who };
      }
    },
    request(input) {
      const person = people[input.who];
      const path = `${admin}/members/${person.id}`;
      switch (input.do) {
        case 'me':
          return { method: 'GET', path: 'auth/me', token: person.token };
        case 'read':
          return { method: 'GET', path, token };
        case 'remove':
          return { method: 'DELETE', path, token };
        case 'change': {
          const { admin: isAdmin, active } = input;
          return { method: 'POST', path, token, body: { admin: isAdmin, active } };
        }
      }
    },
    read(_input, { status, json }) {
      if (json?.resourceType !== 'ProjectMembership') return { status };
      return { status, admin: json.admin === true, active: json.active };
    },
    last: () =>
      ([0, 1] as const).flatMap(
        (who) =>
          [
            { do: 'read', who },
            { do: 'me', who },
          ] as const,
      ),
  };

  /** Whoever else administers would be counted too, and no model knows of them. */
  async function leaveAlone(): Promise<void> {
    const list = `${admin}/members?profile-type=Practitioner&_count=1000`;
    for (let attempts = 0; attempts < 100; attempts += 1) {
      const { status, json } = await portico.api('GET', list, { token });
      if (status !== 200) throw new Error(`Members were not listed: ${status}`);
      const ids: string[] = json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
      const others = ids.filter((id) => people.every((person) => person.id !== id));
      if (others.length === 0 && ids.length === people.length) return;
      for (const id of others) await portico.api('DELETE', `${admin}/members/${id}`, { token });
    }
    throw new Error('Others still administer the Project');
  }

  async function join(): Promise<{ id: string; token: string }> {
    const { id, user } = await at.invite(newAddress(), 1, { admin: true, sendEmail: false });
    const login = await newLogin({ table, now: Date.now }, idOf(user));
    const { code } = (await at.post('auth/profile', { login, profile: id })).json;
    // As the login has it.
    const { access_token } = (await at.exchange(code, { code_verifier: 'x' })).json;
    return { id, token: access_token };
  }
}
