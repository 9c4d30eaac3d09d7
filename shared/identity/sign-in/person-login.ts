import { createHash } from 'node:crypto';
import { hashClientSecret, newClientSecret } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { accessTokenSeconds } from '../gate/access-token.ts';
import { getsRefreshTokens } from '../policies/smart-scope.ts';
import { type Login, makeRoom } from './logins.ts';

/** A code is good for one exchange within this time. */
export const codeMs = 5 * 60_000;

/** What a person who signed in hands to the token endpoint; only the hash is stored. */
export function newLoginCode(loginId: string): { code: string; hash: string } {
  const secret = newClientSecret();
  return { code: `${loginId}.${secret}`, hash: hashClientSecret(secret) };
}

/** The parts of a code; undefined when it has not the form of one. */
export function parseLoginCode(code: string | undefined): { loginId: string; secret: string } | undefined {
  const [, loginId, secret] = /^([A-Za-z0-9-]{1,64})\.([A-Za-z0-9_-]{43})$/.exec(code ?? '') ?? [];
  return loginId && secret ? { loginId, secret } : undefined;
}

/** RFC 7636 section 4.2: the challenge that a verifier answers. */
export function challengeOf(verifier: string, method: unknown): string {
  return method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
}

/** A login with refresh tokens ends so long after the sign-in, however it is used (NIST SP 800-63B, AAL1). */
const longestLoginSeconds = 30 * 86_400;

/** A person has this long to give a second factor and to choose a membership. */
const choosingMs = 2 * codeMs;
/** A login without refresh tokens ends no later. */
const briefSeconds = Math.ceil(choosingMs / 1000) + accessTokenSeconds + 60;

/** A login of a person who has shown who they are; which membership it is for comes later. */
export interface NewPersonLogin
  extends LoginMade,
    Pick<Login, 'clientId' | 'scope' | 'onlyProject' | 'codeChallenge' | 'codeChallengeMethod'>,
    Pick<Login, 'redirectUri' | 'nonce' | 'needsMfa' | 'signedInAtMs' | 'replaces'> {
  id: string;
  userId: string;
  /** Of one that goes on from another: when that was made. */
  createdAtMs?: number;
}

/**
 * Begins a login: it, and its mirror under the User, by which all of a person's logins are found.
 * @param provided what must hold for it
 * @throws {ConditionFailed} naming what of it does not
 */
export async function beginLogin(
  services: Services,
  login: NewPersonLogin,
  provided: readonly Action[] = [],
): Promise<void> {
  const { userId, issuerProject } = login;
  await makeRoom(services, { userId, issuerProject, briefSeconds });
  const [put, mirror] = newLoginItems(login, services.now());
  await services.table.transact([
    { name: 'new login', put },
    { name: 'new session', put: mirror },
    ...provided,
  ]);
}

/** What the items of a login have whose membership is known already, beside their keys. */
export const chosenLoginAttributes = [
  ...['kind', 'subject', 'clientId', 'scope', 'issuer', 'issuerProject', 'mfa', 'signedInAtMs'],
  ...['project', 'membershipId', 'granted', 'createdAtMs', 'ttl', 'loginId'],
] as const;

/**
 * The same items of a login whose membership is known already, for who gives it tokens once both are written. They
 * need not be written as one: nobody has heard of the login before.
 */
export function chosenLoginItems(
  login: Pick<NewPersonLogin, 'id' | 'userId' | 'clientId' | 'scope' | keyof LoginMade | 'signedInAtMs'>,
  nowMs: number,
  chosen: { project: string; membershipId: string },
): Item[] {
  const [item, mirror] = newLoginItems(login, nowMs);
  const ttl = loginEndSeconds({ scope: login.scope, createdAtMs: nowMs }, nowMs);
  return [{ ...item, ...chosen, granted: true, ttl }, mirror];
}

function newLoginItems({ id, userId, ...login }: NewPersonLogin, nowMs: number): [Item, Item] {
  const mirrorSeconds = getsRefreshTokens(login.scope) ? longestLoginSeconds : briefSeconds;
  return [
    {
      ...keys.login(id),
      kind: 'person',
      subject: userId,
      ...login,
      createdAtMs: login.createdAtMs ?? nowMs,
      ttl: Math.ceil((nowMs + choosingMs) / 1000),
    },
    { ...keys.userLogin(userId, id), loginId: id, ttl: Math.ceil(nowMs / 1000) + mirrorSeconds },
  ];
}

/** When the item of a login that gets tokens may go. Seconds since the epoch. */
export function loginEndSeconds(login: { scope: string; createdAtMs: number }, nowMs: number): number {
  return getsRefreshTokens(login.scope)
    ? Math.ceil(login.createdAtMs / 1000) + longestLoginSeconds
    : Math.floor(nowMs / 1000) + accessTokenSeconds + 60;
}

/** How a person showed who they are, as their login stores it. */
export type LoginMade = Partial<Pick<Login, 'issuer' | 'issuerProject' | 'mfa'>>;

/** Whether a login was made as the membership wants it: by its issuer or a password, with a second factor. */
export function isMadeFor(
  { issuer, issuerProject, mfa }: LoginMade,
  membership: Pick<ProjectMembership, 'project' | 'authentication' | 'mfaRequired'>,
): boolean {
  const { authentication, mfaRequired, project } = membership;
  const wanted = typeof authentication === 'object' ? authentication.issuer : undefined;
  if (issuer !== wanted || (mfaRequired === true && mfa !== true)) return false;
  return issuerProject === undefined || project.reference === `Project/${issuerProject}`;
}

/**
 * `<login>.<project>.<membership>.<family>.<secret>`. The ids say what to read and are checked against
 * it. The family is the same in all tokens of a login, the secret another in each: who shows the
 * family with a spent secret shows a token that was stolen or used twice.
 */
export interface RefreshToken {
  loginId: string;
  project: string;
  membershipId: string;
  family: string;
  secret: string;
}

/** A token, and what is stored of it: the hashes. */
export interface NewRefreshToken {
  text: string;
  secret: string;
  familyHash: string;
  secretHash: string;
}

/** @param of the token that it follows, or the login whose first it is */
export function newRefreshToken(
  of: Omit<RefreshToken, 'family' | 'secret'> & { family?: string },
): NewRefreshToken {
  const family = of.family ?? newClientSecret();
  const secret = newClientSecret();
  return {
    text: refreshTokenText({ ...of, family, secret }),
    secret,
    familyHash: hashClientSecret(family),
    secretHash: hashClientSecret(secret),
  };
}

export function refreshTokenText({ loginId, project, membershipId, family, secret }: RefreshToken): string {
  return [loginId, project, membershipId, family, secret].join('.');
}

/** Undefined when the text has not the form of a token. */
export function parseRefreshToken(text: string | undefined): RefreshToken | undefined {
  const form = /^([\w-]{1,64})\.([\w-]{1,64})\.([\w-]{1,64})\.([\w-]{43})\.([\w-]{43})$/;
  const [, loginId, project, membershipId, family, secret] = form.exec(text ?? '') ?? [];
  return loginId && project && membershipId && family && secret
    ? { loginId, project, membershipId, family, secret }
    : undefined;
}
