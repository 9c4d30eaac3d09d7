import type { Services } from '../services.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import { aliveAction } from './alive-action.ts';
import { endLogin } from './end-login.ts';
import { endLogins } from './end-logins.ts';
import { idOfLogin, type Login } from './login-item.ts';
import { loginsOf } from './logins-of.ts';
import { hashPassword } from './password.ts';
import { noticeActions } from './security-notice.ts';

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
  for (const login of others.slice(mostInOne)) await endLogin(services.table, idOfLogin(login));
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
    ...others.slice(0, mostInOne).map(endAction),
  ]);
  // A sign-in with the old password may have come between the look and the change; none can after it.
  await endLogins(services, userId, keep);
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
