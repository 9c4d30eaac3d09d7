import type { Caller } from '../../../shared/access/access-token.ts';
import { addressMs, isAddressSecret, parseAddressId } from '../../../shared/login/address-link.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Action } from '../../../shared/table/transact.ts';
import { untilWritten } from '../../../shared/table/until-written.ts';
import { verifyEmailBody } from '../bodies.ts';
import { deadLink, type LoginServices } from '../external/invitation-of-link.ts';
import { gatherMove } from './gather-move.ts';
import { moveActions } from './move-address.ts';
import { requireAsker } from './require-asker.ts';

/**
 * Uses the link that was mailed to a person's new address, once: from now on they have that one, in
 * every Project, and the one before is told and free. The link proves the address only; who asked for it
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
  let asked: Action | undefined;
  await untilWritten(async () => {
    const found = await services.table.read([userKey, changeKey]);
    const change = found.get(changeKey);
    const user = inlineResource('User', found.get(userKey));
    const email = String(change?.email);
    const ring = services.keyRings['address-link'];
    const isLive =
      change?.generation === generation && (await isAddressSecret(ring, { ...link, email }, secret));
    if (!isLive || !user) throw deadLink();
    asked ??= await requireAsker(services, userId, { caller, password, source });
    const move = await gatherMove(services, { user, joins: found.get(userKey)?.joins }, email);
    await services.table.transact([asked, ...moveActions(services, move, generation)]);
  }, refuse);

  function refuse(failed: ReadonlySet<string>): void {
    // Their login has ended, or their password is another one: they show again who they are.
    if (failed.has('asker')) asked = undefined;
    // With the change itself gone, the address is taken by this very link, used at the same time.
    else if (failed.has('new address') && !failed.has('change'))
      throw new Refusal('conflict', 'This address belongs to another user');
  }
}
