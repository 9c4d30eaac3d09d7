import { addressMs, isAddressSecret, parseAddressId } from '../../shared/auth/address-link.ts';
import { Refusal } from '../../shared/refusal.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { gatherMove } from './gather-move.ts';
import { deadLink, type LoginServices } from './invitation-of-link.ts';
import { moveActions } from './move-address.ts';

/** Others may invite or remove the person between our read and our transaction; then we look again. */
const attempts = 8;

/**
 * Uses the link that was mailed to a person's new address, once: from now on they have that one, in
 * every Project, and the one before is told and free.
 * @param body `{id, secret}` from the link's fragment
 * @throws {Refusal} invalid, one text for every link that is not live; conflict when the address is taken
 */
export async function verifyEmail(services: LoginServices, body: unknown): Promise<void> {
  const { id, secret } = (body ?? {}) as Record<string, unknown>;
  const link = parseAddressId(id);
  if (!link || typeof secret !== 'string' || link.generation + addressMs <= services.now()) throw deadLink();
  const { userId, generation } = link;
  const [userKey, changeKey] = [keys.user(userId), keys.addressChange(userId)];
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const [found, stage] = await Promise.all([services.table.read([userKey, changeKey]), services.secret()]);
    const change = found.get(changeKey);
    const user = resourceOf(found.get(userKey));
    const email = String(change?.email);
    const isLive = change?.generation === generation && isAddressSecret(stage, { ...link, email }, secret);
    if (!isLive || !user) throw deadLink();
    const move = await gatherMove(services, { user, joins: found.get(userKey)?.joins }, email);
    try {
      await services.table.transact(moveActions(services, move, generation));
      return;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      // With the change itself gone, the address is taken by this very link, used at the same time.
      if (error.failed.has('new address') && !error.failed.has('change')) throw taken();
    }
  }
  throw new Refusal('conflict', 'Somebody else is changing the same memberships: try again');
}

function taken(): Refusal {
  return new Refusal('conflict', 'This address belongs to another user');
}
