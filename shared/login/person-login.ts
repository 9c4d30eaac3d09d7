import { accessTokenSeconds } from '../access/access-token.ts';
import { getsRefreshTokens } from '../access/smart-scope.ts';
import type { ProjectMembership } from '../fhir/membership.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import { codeMs } from './login-code.ts';
import type { Login } from './login-item.ts';

/** A login with refresh tokens ends so long after the sign-in, however it is used (NIST SP 800-63B, AAL1). */
const longestLoginSeconds = 30 * 86_400;

/** A person has this long to give a second factor and to choose a membership. */
const choosingMs = 2 * codeMs;

/** A login of a person who has shown who they are; which membership it is for comes later. */
export interface NewPersonLogin {
  id: string;
  userId: string;
  /** Empty for the own app. */
  clientId: string;
  scope: string;
  /** Memberships of this Project only: its client asks, or the person said so. */
  onlyProject?: string | undefined;
  /** Undefined only for the one client that goes without PKCE. */
  codeChallenge?: string | undefined;
  codeChallengeMethod?: 'S256' | 'plain' | undefined;
  /** When given, the code is exchanged with the same. */
  redirectUri?: string | undefined;
  nonce?: string | undefined;
  /** The second factor is still to come: no membership can be chosen before. */
  needsMfa?: boolean;
  /** Of one that an issuer vouched for, as `LoginMade`. */
  issuer?: string;
  issuerProject?: string | undefined;
  mfa?: boolean;
  /** Of one that goes on from another: when the person signed in, and which login ends with the choice. */
  createdAtMs?: number;
  replaces?: NonNullable<Login['replaces']>;
}

/** The login, and its mirror under the User, by which all of a person's logins are found. */
export function newLoginActions(login: NewPersonLogin, nowMs: number): Action[] {
  const [put, mirror] = newLoginItems(login, nowMs);
  return [
    { name: 'new login', put },
    { name: 'new session', put: mirror },
  ];
}

/** What the items of a login have whose membership is known already, beside their keys. */
export const chosenLoginAttributes = [
  ...['kind', 'subject', 'clientId', 'scope', 'issuer', 'issuerProject', 'mfa'],
  ...['project', 'membershipId', 'granted', 'createdAtMs', 'ttl', 'loginId'],
] as const;

/**
 * The same items of a login whose membership is known already, for who gives it tokens once both are written. They
 * need not be written as one: nobody has heard of the login before.
 */
export function chosenLoginItems(
  login: Pick<NewPersonLogin, 'id' | 'userId' | 'clientId' | 'scope' | 'issuer' | 'issuerProject' | 'mfa'>,
  nowMs: number,
  chosen: { project: string; membershipId: string },
): Item[] {
  const [item, mirror] = newLoginItems(login, nowMs);
  const ttl = loginEndSeconds({ scope: login.scope, createdAtMs: nowMs }, nowMs);
  return [{ ...item, ...chosen, granted: true, ttl }, mirror];
}

function newLoginItems({ id, userId, ...login }: NewPersonLogin, nowMs: number): [Item, Item] {
  const mirrorSeconds = getsRefreshTokens(login.scope)
    ? longestLoginSeconds
    : Math.ceil(choosingMs / 1000) + accessTokenSeconds + 60;
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
