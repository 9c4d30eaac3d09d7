import { boolean, exactOptional, type InferInput, number, object, optional, picklist, string } from 'valibot';
import { inChunks, inParallel } from '../../base/in-parallel.ts';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { unlimitedBudget } from '../../carry/table/budget.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { drawingOn } from '../../carry/table/metered.ts';
import { readAll } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { batch } from '../../store/items/versions.ts';
import { isOwnClient } from '../gate/access-token.ts';
import type { MailKind, SecurityEvent } from '../mail/letters.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';

/** A login: of a program with its tokens, or of a person from the sign-in to its last refresh. */
const loginSchema = object({
  pk: string(),
  sk: string(),
  kind: picklist(['person', 'client']),
  subject: string(),
  /** Empty for the own app. */
  clientId: string(),
  scope: string(),
  createdAtMs: number(),
  /** See `signedInAtMs` of shared/identity/policies/recent-sign-in.ts. */
  signedInAtMs: exactOptional(number()),
  /** Seconds since the epoch. */
  ttl: exactOptional(number()),
  revoked: exactOptional(boolean()),
  /** Once a membership is chosen. */
  project: optional(string()),
  membershipId: optional(string()),
  /** Reference of the Patient whose record it is for. */
  patient: optional(string()),
  /** Memberships of this Project only: its client asks, or the person said so. */
  onlyProject: optional(string()),
  /** Undefined only for the one client that goes without PKCE. */
  codeChallenge: optional(string()),
  codeChallengeMethod: optional(picklist(['S256', 'plain'])),
  /** When given, the code is exchanged with the same. */
  redirectUri: optional(string()),
  nonce: optional(string()),
  /** The second factor is still to come: no membership can be chosen before. */
  needsMfa: optional(boolean()),
  /** Whether a second factor was shown. */
  mfa: optional(boolean()),
  /** Whether that was a recovery code. */
  recovered: optional(boolean()),
  /** The issuer that vouched for the person; undefined for a password. */
  issuer: optional(string()),
  /** Whose own issuer that is; undefined for one of the stage. */
  issuerProject: optional(string()),
  /** The login that ends when this one chooses a membership, and in which Project as whom. */
  replaces: exactOptional(object({ loginId: string(), project: string(), profile: string() })),
  /** When the membership was chosen, where that was later. */
  chosenAtMs: exactOptional(number()),
  codeHash: exactOptional(string()),
  codeExpiresAtMs: exactOptional(number()),
  /** When the person was last known to use it. */
  usedAtMs: exactOptional(number()),
  /** Whether its code was exchanged. */
  granted: exactOptional(boolean()),
  /** The attempt that did. */
  grantedBy: exactOptional(string()),
  refreshFamilyHash: exactOptional(string()),
  refreshHash: exactOptional(string()),
  /** The successor of the last refresh token that was spent, which that token alone opens. */
  rotation: exactOptional(object({ sealed: string(), untilMs: number() })),
});

export type Login = InferInput<typeof loginSchema>;

export const loginOf = stored('login', loginSchema);

export function idOfLogin({ pk }: Pick<Login, 'pk'>): string {
  return pk.replace(/^L#/, '');
}

/** What leads to all of a person's logins. */
function mirrorsOf({ table }: Services, userId: string): Promise<Item[]> {
  const { pk, sk: prefix } = keys.userLogin(userId, '');
  return readAll(whole(table), pk, { prefix });
}

async function readLogins({ table }: Services, mirrors: readonly Item[]): Promise<Login[]> {
  const found = await whole(table).read(mirrors.map(keyOfLogin));
  return mirrors.flatMap((mirror) => loginOf(found.get(keyOfLogin(mirror))) ?? []);
}

/** Whoever has made many is not to keep a person from ending them by what a request may cost. */
function whole(table: Table): Table {
  return drawingOn(table, unlimitedBudget);
}

function keyOfLogin({ loginId }: Item): Key {
  return keys.login(String(loginId));
}

/** A person's logins that are alive, whatever they were made for. */
export async function loginsOf(services: Services, userId: string): Promise<Login[]> {
  const logins = await readLogins(services, await mirrorsOf(services, userId));
  return logins.filter(isStanding);
}

/** A person has no more at once, as far as they were made by signing in; as many by the issuers of each Project. */
export const mostLogins = 200;
const endedTogether = 20;

/**
 * For who begins another login: where a person has as many as there may be, some end, those first that were only begun,
 * then those that were made first. A Project's own issuer ends those alone that it has vouched for.
 * @param of.issuerProject whose issuer vouches for the new one; undefined for a password and for an issuer of the stage
 * @param of.briefSeconds how long the mirror of a login without refresh tokens is kept
 */
export async function makeRoom(
  services: Services,
  of: { userId: string; issuerProject: string | undefined; briefSeconds: number },
): Promise<void> {
  const { userId, issuerProject, briefSeconds } = of;
  const mirrors = await mirrorsOf(services, userId);
  if (mirrors.length < mostLogins) return;
  const logins = await readLogins(services, mirrors);
  // Of exchanged tokens, whose logins had no code, there are so many an hour.
  const isBySignIn = ({ granted, grantedBy }: Login) => granted !== true || grantedBy !== undefined;
  const isOfThese = (login: Login) => isBySignIn(login) && login.issuerProject === issuerProject;
  const alive = logins.filter((login) => isStanding(login) && isOfThese(login));
  const rank = ({ granted }: Login) => (granted === true ? 1 : 0);
  const over = alive
    .toSorted((a, b) => rank(a) - rank(b) || a.createdAtMs - b.createdAtMs)
    .slice(0, Math.max(0, alive.length - mostLogins + endedTogether));
  await endAll(services, over);
  const known = new Map(logins.map((login) => [idOfLogin(login), login]));
  const untilSeconds = services.now() / 1000 + briefSeconds;
  const left = mirrors.filter(({ loginId, ttl }) => {
    const login = known.get(String(loginId));
    // One without a login that ends soon may be of an exchange, which writes the two beside each other.
    return login ? login.revoked === true || over.includes(login) : Number(ttl) > untilSeconds;
  });
  const removed = left.map(({ pk, sk }) => ({ name: 'session', remove: { pk, sk } }));
  for (const some of inChunks(removed, batch)) await whole(services.table).transact(some);
}

/** Ends them, some at once. */
export async function endAll(services: Services, logins: readonly Login[]): Promise<void> {
  await inParallel(logins, 10, (login) => endLogin(whole(services.table), idOfLogin(login)));
}

/**
 * Ends a login: every token of it, refresh tokens too, is refused from the next request on.
 * @returns whether it had not been ended before
 */
export async function endLogin(table: Table, loginId: string): Promise<boolean> {
  // One that is swept ended long ago.
  const { held } = await table.updateIf({
    Key: keys.login(loginId),
    UpdateExpression: 'SET revoked = :true',
    ConditionExpression: isAlive,
    ExpressionAttributeValues: { ':true': true },
  });
  return held;
}

/**
 * Ends all logins of a person but the one to keep, once none begins with their password any more. Until the last has
 * ended another may come of it, by a change of the Project: it is looked again until there is none, which who makes such
 * changes delays only while they are faster every time. A sign-in that begins meanwhile stays, and so do logins that replace
 * it or the one to keep. A login that replaces an unknown one ends.
 */
export async function endLogins(services: Services, userId: string, keep?: string): Promise<void> {
  const stays = new Set(keep === undefined ? [] : [keep]);
  const isOver = (login: Login) => isStanding(login) && !stays.has(idOfLogin(login));
  const read = async () => readLogins(services, await mirrorsOf(services, userId));
  const first = await read();
  const before = new Set(first.map(idOfLogin));
  await endAll(services, first.filter(isOver));
  for (;;) {
    const all = await read();
    const later = all.filter((login) => !before.has(idOfLogin(login)));
    for (let size = -1; size < stays.size; ) {
      size = stays.size;
      for (const login of later)
        if (!login.replaces || stays.has(login.replaces.loginId)) stays.add(idOfLogin(login));
    }
    const more = all.filter(isOver);
    if (more.length === 0) return;
    await endAll(services, more);
  }
}

const isStanding = ({ revoked }: Login) => revoked !== true;

/**
 * Whether a login speaks for the whole person, above Projects: made with their password, in the own app
 * or on the command line, for more than resources. An app or an issuer of one Project sees and changes nothing
 * beyond it.
 */
export function isOwnLogin(login: Login): boolean {
  const { kind, issuer, clientId, scope } = login;
  return kind === 'person' && issuer === undefined && isOwnClient(clientId) && !isForResourcesOnly(scope);
}

/** One text for whatever has become of a login that is not finished. */
export function signInAgain(): Refusal {
  return new Refusal('invalid', 'Sign in again');
}

/** @throws {Refusal} forbidden */
export function requireOwnLogin(item: Item | undefined): Login {
  const login = loginOf(item);
  if (login && isOwnLogin(login)) return login;
  throw new Refusal('forbidden', 'Sign in with your password, in the own app');
}

/**
 * For a transaction that a person may make by this login: it has not ended since it was read. Named `login` when it
 * fails.
 */
export function aliveAction(loginId: string): Action & { check: Key } {
  return { name: 'login', check: keys.login(loginId), if: isAlive };
}

/** That a login is there, and has not ended. */
export const isAlive = 'attribute_exists(pk) AND attribute_not_exists(revoked)';

const noticeSeconds = 7 * 86_400;

/**
 * The mail by which a person learns of a change to how they sign in, for the transaction of that change.
 * Nothing for a person without an address.
 * @param email the address that was theirs before the change
 */
export function noticeActions(
  event: SecurityEvent,
  { userId, email, nowMs }: { userId: string; email: unknown; nowMs: number },
): Action[] {
  if (typeof email !== 'string') return [];
  const ttl = Math.ceil(nowMs / 1000) + noticeSeconds;
  return [
    {
      name: 'notice',
      put: {
        ...keys.noticeMail(userId, event, email),
        kind: event satisfies MailKind,
        ...{ email, userId },
        generation: nowMs,
        ttl,
      },
    },
  ];
}

/** The address of a User, normalised; undefined for one who has none. */
export function emailOf(user: Item | undefined): string | undefined {
  const email = inlineResource('User', user)?.email;
  return typeof email === 'string' ? email : undefined;
}
