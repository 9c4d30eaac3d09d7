import { invalidField, Refusal } from '../../base/refusal.ts';
import { parse } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { hasSignedInRecently, requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { verifyEmailBody } from './bodies.ts';
import { deadLink, type LoginServices } from './invitation-of-link.ts';
import { addressLink, addressMs, isLinkSecret, parseAddressId } from './links.ts';
import { aliveAction, isOwnLogin, type Login, loginOf, noticeActions } from './logins.ts';
import { gatherMove, moveAddress } from './move-address.ts';
import { passwordHashOf } from './password.ts';
import { provePassword } from './proof.ts';
import { secondFactorOf } from './second-factor.ts';
import { addressUndos, undoMs, undosAction } from './undo-address.ts';

/** How somebody shows that it was them who asked. */
interface Shown {
  caller: Caller | undefined;
  password: string | undefined;
  source: string;
}

/**
 * Whoever asked for a new address is the User themself: signed in lately, with a login that speaks for the whole
 * person, or by their password.
 * @returns for the transaction that they may make: the login has not ended, or the password not changed, since
 * @throws {Refusal} forbidden, naming the password; insufficient-user-authentication; invalid for a wrong password;
 *   throttled; unauthorized for a token whose login has ended
 */
async function requireAsker(
  services: Services,
  userId: string,
  { caller, password, source }: Shown,
): Promise<Action> {
  const own = caller && (await ownLogin(services, userId, caller));
  if (own && (!password || hasSignedInRecently(own, services.now()))) {
    requireRecentSignIn({ login: own }, services.now());
    return { ...aliveAction(caller.loginId), name: 'asker' };
  }
  if (!password) throw notThey();
  const hash = passwordHashOf(await readItem(services.table, keys.password(userId)));
  const wrong = invalidField('password', 'This is not the password of the person who asked for this address');
  return { ...(await provePassword(services, { userId, hash, password, source }, wrong)), name: 'asker' };
}

async function ownLogin(services: Services, userId: string, caller: Caller): Promise<Login | undefined> {
  const { actor } = await admit(services, caller, []);
  const login = loginOf(actor.login);
  return caller.subject === userId && login !== undefined && isOwnLogin(login) ? login : undefined;
}

function notThey(): Refusal {
  const text = 'Sign in as the person who asked for this address, or give their password';
  return new Refusal('forbidden', text, { issues: [{ text, expression: 'password' }] });
}

/**
 * Uses the link that was mailed to a person's new address, once: from now on they have that one, in
 * every Project, and the one before is told, and kept for them for three days, in which it can be undone
 * from there. The link proves the address only; who asked for it
 * proves themself beside it, or whoever reads the mail would hand their address to a stranger by a click.
 * @param input.body `{id, secret, password?}`: id and secret from the link's fragment, the password of who asked
 * @param input.caller whose token came along, if any
 * @throws {Refusal} invalid, one text for every link that is not live; forbidden, throttled for who did not
 *   ask; conflict when the address is taken
 */
export async function verifyEmail(
  services: LoginServices,
  { body, source, caller }: { body: unknown; source: string; caller: Caller | undefined },
): Promise<void> {
  const { id, secret, password } = parse(verifyEmailBody, body);
  const link = parseAddressId(id);
  if (!link || link.generation + addressMs <= services.now()) throw deadLink();
  const { userId, generation } = link;
  const [userKey, changeKey] = [keys.user(userId), keys.addressChange(userId)];
  const undoKey = keys.addressUndo(userId);
  let asked: Action | undefined;
  await untilWritten(async () => {
    const found = await services.table.read([userKey, changeKey, undoKey, keys.mfa(userId)]);
    const change = found.get(changeKey);
    const user = inlineResource('User', found.get(userKey));
    const email = String(change?.email);
    const ring = services.keyRings['address-link'];
    const isLive =
      change?.generation === generation &&
      (await isLinkSecret(ring, addressLink('verify', { ...link, email }), secret));
    if (!isLive || !user) throw deadLink();
    asked ??= await requireAsker(services, userId, { caller, password, source });
    const move = await gatherMove(services, { user, joins: found.get(userKey)?.joins }, email);
    const [nowMs, left] = [services.now(), String(user.email)];
    const undos = addressUndos(found.get(undoKey), nowMs);
    // Back at an address that is kept for them, nobody else is to take them to one that they had in between.
    const back = undos.findIndex((undo) => undo.email === email);
    const { seed, enrolledAtMs, recovery } = secondFactorOf(userId, found);
    // One that is younger than an undo lasts may be of whoever changes the address: it does not keep its owner out.
    const isTheirs = seed !== undefined && enrolledAtMs + undoMs <= nowMs;
    const undo = {
      ...{ generation: Math.max(nowMs, (undos.at(-1)?.generation ?? 0) + 1), email: left },
      ...(isTheirs ? { seed, ...(recovery.size > 0 ? { recovery: new Set(recovery) } : {}) } : {}),
    };
    const more: Action[] = [
      asked,
      {
        ...{ name: 'change', remove: changeKey },
        ...{ if: 'generation = :generation', values: { ':generation': generation } },
      },
      undosAction(userId, found.get(undoKey), back < 0 ? [...undos, undo] : undos.slice(0, back), nowMs),
      ...(back < 0 ? noticeActions('address-changed', { userId, email: left, nowMs: undo.generation }) : []),
    ];
    const kept = back < 0 ? { keptUntilMs: undo.generation + undoMs } : {};
    await moveAddress(services, move, { subtype: 'change-address', ...kept, more });
  }, refuse);

  function refuse(failed: ReadonlySet<string>): void {
    // Their login has ended, or their password is another one: they show again who they are.
    if (failed.has('asker')) asked = undefined;
    // With the change itself gone, the address is taken by this very link, used at the same time.
    else if (failed.has('new address') && !failed.has('change'))
      throw new Refusal('conflict', 'This address belongs to another user');
  }
}
