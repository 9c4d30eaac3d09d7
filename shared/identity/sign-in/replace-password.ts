import { randomBytes } from 'node:crypto';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import {
  aliveAction,
  endLogin,
  endLogins,
  idOfLogin,
  type Login,
  loginsOf,
  noticeActions,
} from './logins.ts';
import { hashPassword } from './password.ts';

interface NewPassword {
  password: string;
  seenHash: string | undefined;
  email: unknown;
  keep?: string;
  /** What else must still hold. */
  provided?: readonly Action[];
}

/** A transaction holds 100 actions. */
const mostInOne = 90;

/**
 * Replaces a password, when it is still the one that was seen or there is none, and ends the person's logins with it, but
 * for the one to keep. Who has more logins than fit the transaction loses the others before. The person is
 * told by mail.
 * @param of.email of the person, when they have one
 * @param of.keep the login that changes it, which must not have ended
 * @throws {ConditionFailed} when the password was changed meanwhile, naming `password`; `login` when the one to keep has
 *   ended
 */
export async function replacePassword(
  services: Services,
  userId: string,
  { password, seenHash, email, keep, provided = [] }: NewPassword,
): Promise<void> {
  const hash = await hashPassword(password);
  const others = await othersOf(services, userId, keep);
  const most = mostInOne - provided.length;
  for (const login of others.slice(most)) await endLogin(services.table, idOfLogin(login));
  await services.table.transact([
    {
      name: 'password',
      put: { ...keys.password(userId), hash },
      ...(seenHash === undefined
        ? { if: 'attribute_not_exists(pk)' }
        : { if: '#hash = :seen', names: { '#hash': 'hash' }, values: { ':seen': seenHash } }),
    },
    ...(keep === undefined ? [] : [aliveAction(keep)]),
    ...provided,
    ...noticeActions('password-changed', { userId, email, nowMs: services.now() }),
    ...others.slice(0, most).map(endAction),
  ]);
  // A sign-in with the old password may have come between the look and the change; none can after it.
  await endLogins(services, userId, keep);
}

/**
 * For a transaction: the password of a person who has one is replaced by one that nobody knows. Not by none: a reset is
 * mailed only to who has one, and its earlier links are bound to the hash that goes. Named `password` when they have none.
 */
export async function invalidPasswordAction(userId: string): Promise<Action> {
  return {
    name: 'password',
    update: keys.password(userId),
    set: 'SET #hash = :hash',
    if: 'attribute_exists(pk)',
    names: { '#hash': 'hash' },
    values: { ':hash': await hashPassword(randomBytes(32).toString('base64url')) },
  };
}

async function othersOf(services: Services, userId: string, keep: string | undefined): Promise<Login[]> {
  return (await loginsOf(services, userId)).filter((login) => idOfLogin(login) !== keep);
}

/** No condition: a login that was swept meanwhile must not hold up the change. */
function endAction({ pk, sk, ttl }: Login): Action {
  return {
    name: 'ended login',
    update: { pk, sk },
    set: 'SET revoked = :true, #ttl = :ttl',
    names: { '#ttl': 'ttl' },
    values: { ':true': true, ':ttl': ttl },
  };
}
