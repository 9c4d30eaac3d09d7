import { auditItem } from '../../shared/audit/audit-event.ts';
import { targetOf } from '../../shared/audit/who.ts';
import { normaliseAddress } from '../../shared/email/address.ts';
import { choicesOf } from '../../shared/invitation/choices.ts';
import type { Standing } from '../../shared/invitation/state.ts';
import { endLogin } from '../../shared/login/end-login.ts';
import { idOfLogin } from '../../shared/login/login-item.ts';
import { loginsOf } from '../../shared/login/logins-of.ts';
import { noticeActions } from '../../shared/login/security-notice.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ownerOf } from '../../shared/table/owner.ts';

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
 * Takes the second factor and the recovery codes of an administrator away, and ends all their logins; the
 * password stays. Done again it does no harm.
 * @throws {Error} when there is no such active administrator of the Project
 */
export async function recoverAdministrator(services: Services, request: RecoverRequest): Promise<Recovered> {
  const email = normaliseAddress(request.recover) ?? '';
  const { project } = request;
  const addressKey = keys.address(email || 'none');
  const userId = ownerOf((await services.table.read([addressKey])).get(addressKey));
  const { membership } = await requireAdministrator(services, project, userId);
  const id = userId ?? '';
  const nowMs = services.now();
  const event = {
    ...({ project, subtype: 'provision', action: 'U', outcome: '0' } as const),
    agent: { reference: 'system' },
    entities: [
      { reference: `User/${id}`, detail: [{ type: 'recovered', valueString: 'second factor removed' }] },
      targetOf(membership),
    ],
  };
  await services.table.transact([
    { name: 'second factor', update: keys.mfa(id), set: 'REMOVE seed, lastStep, recovery' },
    ...noticeActions('second-factor-removed', { userId: id, email, nowMs }),
    { name: 'audit', put: auditItem(event, services.newId(), nowMs) },
  ]);
  for (const login of await loginsOf(services, id)) await endLogin(services.table, idOfLogin(login));
  return { recovered: { email, membershipId: membership.id } };
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
