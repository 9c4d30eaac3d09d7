import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { aliveAction } from '../../../shared/login/alive-action.ts';
import { loginOf } from '../../../shared/login/login-item.ts';
import { isOwnLogin } from '../../../shared/login/own-login.ts';
import { longestPassword, verifyPassword } from '../../../shared/login/password.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Action } from '../../../shared/table/transact.ts';
import { countAttempt } from '../sign-in/attempts.ts';

/** How somebody shows that it was them who asked. */
interface Shown {
  caller: Caller | undefined;
  password: string | undefined;
  source: string;
}

/**
 * Whoever asked for a new address is the User themself: signed in, with a login that speaks for the whole
 * person, or by their password.
 * @returns for the transaction that they may make: the login has not ended, or the password not changed, since
 * @throws {Refusal} forbidden, naming the password; invalid for a wrong one; throttled; unauthorized for a token
 *   whose login has ended
 */
export async function requireAsker(
  services: Services,
  userId: string,
  { caller, password, source }: Shown,
): Promise<Action> {
  if (caller && (await isThey(services, userId, caller)))
    return { ...aliveAction(caller.loginId), name: 'asker' };
  if (!password) throw notThey();
  const passwordKey = keys.password(userId);
  const hash = (await services.table.read([passwordKey])).get(passwordKey)?.hash;
  const takeBack = await countAttempt(services, userId, source);
  const given = password.slice(0, longestPassword + 1);
  if (typeof hash !== 'string' || !(await verifyPassword(given, hash))) {
    throw invalidField('password', 'This is not the password of the person who asked for this address');
  }
  await takeBack();
  return {
    name: 'asker',
    check: passwordKey,
    if: '#hash = :seen',
    names: { '#hash': 'hash' },
    values: { ':seen': hash },
  };
}

async function isThey(services: Services, userId: string, caller: Caller): Promise<boolean> {
  const loginKey = keys.login(caller.loginId);
  const { found } = await admit(services, caller, [loginKey]);
  const login = loginOf(found.get(loginKey));
  return caller.subject === userId && login !== undefined && isOwnLogin(login);
}

function notThey(): Refusal {
  const text = 'Sign in as the person who asked for this address, or give their password';
  return new Refusal('forbidden', text, { issues: [{ text, expression: 'password' }] });
}
