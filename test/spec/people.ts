import { mailedLink } from './mailed-link.ts';
import type { Answer, Portico } from './portico.ts';
import { newAddress, password, signingIn } from './signing-in.ts';

/** A person who has accepted an invitation into the first Project. */
export interface TestPerson {
  email: string;
  userId: string;
  membershipId: string;
  /** `Practitioner/<id>` and the like. */
  profile: string;
}

/** Invites somebody new and accepts, by the link in the mail. @param change of the body of the invite */
export async function newPerson(portico: Portico, change: Record<string, unknown> = {}): Promise<TestPerson> {
  const at = signingIn(portico);
  const email = newAddress();
  const { id, user, profile } = await at.invite(email, 0, change);
  const accepted = await at.post('auth/setpassword', { ...(await mailedLink(portico, email)), password });
  if (accepted.status !== 200) throw new Error(`Not accepted: ${accepted.status} ${accepted.text}`);
  const userId = user.reference.replace('User/', '');
  return { email, userId, membershipId: id, profile: profile.reference };
}

/** The answer of the token endpoint, or that of the sign-in when it refuses. @param change of its body */
export async function signIn(
  portico: Portico,
  { email }: Pick<TestPerson, 'email'>,
  change: Record<string, unknown> = {},
): Promise<Answer> {
  const at = signingIn(portico);
  const login = await at.login(email, change);
  return login.status === 200 ? at.exchange(login.json.code) : login;
}

/** The access token of a person who signs in. */
export async function tokenOf(
  portico: Portico,
  person: Pick<TestPerson, 'email'>,
  change: Record<string, unknown> = {},
): Promise<string> {
  const answer = await signIn(portico, person, change);
  if (answer.status !== 200) throw new Error(`Not signed in: ${answer.status} ${answer.text}`);
  return answer.json.access_token;
}
