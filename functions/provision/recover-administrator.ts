import { randomBytes } from 'node:crypto';
import { auditItem } from '../../shared/audit/audit-event.ts';
import { targetOf } from '../../shared/audit/who.ts';
import { normaliseAddress } from '../../shared/email/address.ts';
import { choicesOf } from '../../shared/invitation/choices.ts';
import type { Standing } from '../../shared/invitation/state.ts';
import { endLogins } from '../../shared/login/end-logins.ts';
import { hashPassword } from '../../shared/login/password.ts';
import { noticeActions } from '../../shared/login/security-notice.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ownerOf } from '../../shared/table/owner.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';

/** The event that lets an administrator of a Project sign in again who has lost their second factor. */
export interface RecoverRequest {
  /** Id of a Project. */
  project: string;
  /** Address of one of its administrators. */
  recover: string;
}

export interface Recovered {
  recovered: { email: string; membershipId: string };
}

/**
 * Lets an administrator begin their sign-in anew: the password that they have opens nothing any more, all their
 * logins end, and the second factor and the recovery codes are removed, in this order. They choose another password
 * by a mailed link before they can enrol a second factor, so whoever has learned the old one cannot enrol first.
 * A person without a password loses the logins and the second factor. May be repeated at any point; a password
 * that was chosen in between is replaced too.
 * @throws {Error} when there is no such active administrator of the Project, or their address was changed meanwhile
 */
export async function recoverAdministrator(services: Services, request: RecoverRequest): Promise<Recovered> {
  const email = normaliseAddress(request.recover) ?? '';
  const { project } = request;
  const addressKey = keys.address(email || 'none');
  const userId = ownerOf((await services.table.read([addressKey])).get(addressKey));
  const { membership } = await requireAdministrator(services, project, userId);
  const id = userId ?? '';
  const audit = (what: string): Action => {
    const event = {
      ...({ project, subtype: 'provision', action: 'U', outcome: '0' } as const),
      agent: { reference: 'system' },
      entities: [
        { reference: `User/${id}`, detail: [{ type: 'recovered', valueString: what }] },
        targetOf(membership),
      ],
    };
    return { name: 'audit', put: auditItem(event, services.newId(), services.now()) };
  };
  // The link to another password is mailed there: whoever has a login might move the address away meanwhile.
  const addressed: Action = {
    name: 'address',
    check: addressKey,
    if: 'userId = :user',
    values: { ':user': id },
  };
  const hadPassword = await invalidatePassword(services, id, [addressed, audit('password made invalid')]);
  // No login begins with the password any more, and one that has ended enrols nothing.
  await endLogins(services, id);
  const notice = hadPassword ? 'sign-in-recovered' : 'second-factor-removed';
  const removed: Action[] = [
    { name: 'second factor', update: keys.mfa(id), set: 'REMOVE seed, lastStep, recovery' },
    ...noticeActions(notice, { userId: id, email, nowMs: services.now() }),
    addressed,
    audit('second factor removed'),
  ];
  await services.table.transact(removed).catch(refuseMoved);
  return { recovered: { email, membershipId: membership.id } };
}

/**
 * Replaces a password by one that nobody knows, not by none: a reset is mailed only to who has one, and its earlier
 * links are bound to the hash that goes.
 * @returns whether there was one
 */
async function invalidatePassword(
  { table }: Services,
  userId: string,
  more: readonly Action[],
): Promise<boolean> {
  const hash = await hashPassword(randomBytes(32).toString('base64url'));
  const replaced: Action = {
    name: 'password',
    update: keys.password(userId),
    set: 'SET #hash = :hash',
    if: 'attribute_exists(pk)',
    names: { '#hash': 'hash' },
    values: { ':hash': hash },
  };
  try {
    await table.transact([replaced, ...more]);
    return true;
  } catch (error) {
    const isWithout = error instanceof ConditionFailed && !error.failed.has('address');
    return isWithout ? false : refuseMoved(error);
  }
}

function refuseMoved(error: unknown): never {
  if (!(error instanceof ConditionFailed)) throw error;
  throw new Error(
    'Their address was changed meanwhile, and the second factor stays: find out whether it was them before you recover by the new one',
  );
}

async function requireAdministrator(
  services: Services,
  project: string,
  userId: string | undefined,
): Promise<Standing> {
  const standings = userId ? await choicesOf(services, userId, project, { mfa: true }) : [];
  const found = standings.find(({ membership: { active, admin } }) => active && admin === true);
  if (!found) throw new Error('This is no active administrator of the Project who signs in with a password');
  return found;
}
