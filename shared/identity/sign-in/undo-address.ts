import { array, exactOptional, type InferInput, number, object, set, string } from 'valibot';
import { invalidField } from '../../base/refusal.ts';
import { parse, stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { undoAddressBody } from './bodies.ts';
import { deadLink, type LoginServices } from './invitation-of-link.ts';
import { addressLink, isLinkSecret, parseAddressId } from './links.ts';
import { endLogins, noticeActions } from './logins.ts';
import { gatherMove, moveAddress } from './move-address.ts';
import { invalidPasswordAction } from './password.ts';
import { countCode, proveEarlier, restoreActions, secondFactorOf, wrongCode } from './second-factor.ts';

/** So long the address that was left is kept, and may be taken back by a link that is mailed there. */
export const undoMs = 72 * 3_600_000;

const undoSchema = object({
  /** When it was made, ms since the epoch: names it in its link. */
  generation: number(),
  /** The address that was left. */
  email: string(),
  /** The second factor of then, enrolled longer ago than that: who takes the address back shows it, and has it again. */
  seed: exactOptional(string()),
  recovery: exactOptional(set(string())),
});

/** A change of a person's address that can be undone. */
export type AddressUndo = InferInput<typeof undoSchema>;

const read = stored(
  'changes of address that can be undone',
  object({ undos: array(undoSchema), revision: number() }),
);

/** Those that can be undone still, the oldest first. */
export function addressUndos(item: Item | undefined, nowMs: number): AddressUndo[] {
  return (read(item)?.undos ?? []).filter(({ generation }) => generation + undoMs > nowMs);
}

/** All addresses that are kept for the person of this item. */
export function undoableEmails(item: Item): string[] {
  return read(item).undos.map(({ email }) => email);
}

/** Writes which changes can be undone, when nobody has changed it since it was read. Named `undo` when it fails. */
export function undosAction(
  userId: string,
  seen: Item | undefined,
  undos: readonly AddressUndo[],
  nowMs: number,
): Action {
  const revision = read(seen)?.revision;
  const ttl = Math.ceil((nowMs + undoMs) / 1000);
  return {
    name: 'undo',
    put: { ...keys.addressUndo(userId), undos, revision: (revision ?? 0) + 1, ttl },
    ...(revision === undefined
      ? { if: 'attribute_not_exists(pk)' }
      : { if: 'revision = :seen', values: { ':seen': revision } }),
  };
}

/**
 * Uses the link that was mailed to the address that a person has left: it is theirs again, in every Project, and what
 * the change could have been used for is undone with it. Their password is good no more, all their logins end, the second
 * factor is the one that it was, and no other address waits to be confirmed; links to undo later changes are dead. It is
 * done in this order, so that wherever it breaks off nobody else comes in, and the link does the rest.
 * @param body `{id, secret, token?}`: id and secret from the link's fragment; the token is a code of the second factor that
 *   there was when the address was changed, if there was one
 * @throws {Refusal} invalid, one text for every link that is not live; naming `token` without a right code; throttled;
 *   conflict for a User of one Project, where somebody has the address by now
 */
export async function undoAddress(services: LoginServices, body: unknown): Promise<void> {
  const { id, secret, token = '' } = parse(undoAddressBody, body);
  const link = parseAddressId(id);
  if (!link) throw deadLink();
  const { userId } = link;
  const { table, keyRings } = services;
  const [userKey, undoKey, mfaKey] = [keys.user(userId), keys.addressUndo(userId), keys.mfa(userId)];
  const passwordKey = keys.password(userId);

  async function gather() {
    const nowMs = services.now();
    const found = await table.read([userKey, undoKey, mfaKey, passwordKey]);
    const undos = addressUndos(found.get(undoKey), nowMs);
    const undo = undos.find(({ generation }) => generation === link?.generation);
    const user = inlineResource('User', found.get(userKey));
    if (!user || !undo) throw deadLink();
    const earlier = undos.filter(({ generation }) => generation < undo.generation);
    return { found, nowMs, user, undo, earlier };
  }

  const { undo, user } = await gather();
  const { email } = undo;
  if (!(await isLinkSecret(keyRings['address-link'], addressLink('undo', { ...link, email }), secret)))
    throw deadLink();
  if (undo.seed !== undefined && token === '')
    throw invalidField('token', 'Give a code of your second factor');
  // Before anything ends: where somebody else has the address in the one Project of a User it cannot be theirs.
  await gatherMove(services, { user, joins: undefined }, email);
  const takeBack = undo.seed === undefined ? undefined : await countCode(services, userId, 'link');
  await untilWritten(async () => {
    const { found, undo, nowMs } = await gather();
    const proof = await proveEarlier(keyRings.totp, secondFactorOf(userId, found), factorOf(undo, nowMs));
    await table.transact([await withoutPassword(found), ...proof, stillAction(found)]);
  }, refuseCode);
  await endLogins(services, userId);

  let tries = 0;
  await untilWritten(async () => {
    const { found, nowMs, user, undo, earlier } = await gather();
    const left = String(user.email);
    const more: Action[] = [
      // Until now a new one could be asked for at the address that goes.
      await withoutPassword(found),
      { name: 'change', remove: keys.addressChange(userId) },
      undosAction(userId, found.get(undoKey), earlier, nowMs),
      ...restoreActions(secondFactorOf(userId, found), factorOf(undo, nowMs)),
      ...noticeActions('address-restored', { userId, email, nowMs }),
      ...noticeActions('address-undone', { userId, email: left, nowMs }),
    ];
    const move = await gatherMove(services, { user, joins: undefined }, email);
    tries += 1;
    await moveAddress(services, move, { subtype: 'undo-address', more, isAlone: tries > 2 });
  });
  await endLogins(services, userId);
  await takeBack?.();

  function factorOf({ seed, recovery = new Set() }: AddressUndo, nowMs: number) {
    return { seed, recovery, code: token, nowMs };
  }

  /** Who has no password loses none, and has none by then. */
  async function withoutPassword(found: Found): Promise<Action> {
    if (found.get(passwordKey)) return invalidPasswordAction(userId);
    return { name: 'password', check: passwordKey, if: 'attribute_not_exists(pk)' };
  }

  function stillAction(found: Found): Action {
    const seen = found.get(undoKey)?.revision;
    return { name: 'undo', check: undoKey, if: 'revision = :seen', values: { ':seen': seen } };
  }
}

/** A code that was good a moment ago has been used. */
function refuseCode(failed: ReadonlySet<string>): void {
  if (failed.has('second factor')) throw wrongCode();
}
