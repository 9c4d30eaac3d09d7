import { Refusal } from '../../base/refusal.ts';
import { anyText, fields, parse } from '../../base/schema.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import { auditAction, details, ownUser } from '../audit/audit-event.ts';
import type { Subtype } from '../audit/subtypes.ts';
import { type Caller, unauthorized } from '../gate/access-token.ts';
import { type Actor, admit } from '../gate/actor.ts';
import type { SecurityEvent } from '../mail/letters.ts';
import { requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { aliveAction, emailOf, noticeActions, requireOwnLogin } from './logins.ts';
import type { AccountServices } from './proof.ts';
import {
  type Change,
  countCode,
  enrolAction,
  enrolmentOf,
  type NewRecoveryCodes,
  newRecoveryCodes,
  provenAction,
  recoveryHash,
  type SecondFactor,
  secondFactorOf,
  useCodeAction,
  wrongCode,
} from './second-factor.ts';

/** The six digits that a phone shows, or a recovery code. */
export const codeBody = fields({ token: anyText });

/** Whether a person has a second factor, and recovery codes; if not, the secret that this login may enrol. */
export type MfaStatus =
  | { enrolled: true; recoveryCodes: number }
  | { enrolled: false; enrollUri: string; enrollQrCode: string };

/**
 * @throws {Refusal} forbidden for logins that do not speak for the whole person; insufficient-user-authentication where
 *   there is a secret to be shown: whoever has seen it has the factor that is enrolled with it
 */
export async function readMfaStatus(services: AccountServices, caller: Caller): Promise<MfaStatus> {
  const { actor, factor } = await own(services, caller);
  if (factor.seed !== undefined) return { enrolled: true, recoveryCodes: factor.recovery.size };
  requireRecentSignIn(actor, services.now());
  const of = { id: caller.loginId, userId: caller.subject };
  return { enrolled: false, ...(await enrolmentOf(services, of)) };
}

/**
 * @param body `{token}`
 * @returns the first recovery codes
 * @throws {Refusal} forbidden, invalid, throttled; conflict when there is one already
 */
export async function enrollMfa(
  services: AccountServices,
  caller: Caller,
  body: unknown,
): Promise<NewRecoveryCodes> {
  const { actor, factor, login, email } = await own(services, caller);
  if (factor.seed !== undefined) throw new Refusal('conflict', 'There is a second factor already');
  const { codes, hashes } = newRecoveryCodes(factor.userId);
  const { loginId } = caller;
  await useOwn(services, factor, body, async ({ code, nowMs }) => [
    ...noticeActions('second-factor-added', { userId: factor.userId, email, nowMs }),
    await enrolAction(services.keyRings.totp, factor, { loginId, code, nowMs, recovery: hashes }),
    provenAction(login),
    mfaAudit(services, actor, { subtype: 'enrol-second-factor' }),
  ]);
  return { recoveryCodes: codes };
}

/** @param body `{token}`, six digits or a recovery code @throws {Refusal} forbidden, invalid, throttled */
export async function disableMfa(services: AccountServices, caller: Caller, body: unknown): Promise<void> {
  await changeOwn(services, caller, body, {
    change: 'removal',
    ...({ event: 'second-factor-removed', subtype: 'disable-second-factor' } as const),
  });
}

/**
 * Other recovery codes in the place of those that are left.
 * @param body `{token}`, six digits or a recovery code
 * @throws {Refusal} forbidden, invalid, throttled
 */
export async function renewRecoveryCodes(
  services: AccountServices,
  caller: Caller,
  body: unknown,
): Promise<NewRecoveryCodes> {
  const { codes, hashes } = newRecoveryCodes(caller.subject);
  await changeOwn(services, caller, body, {
    change: { recovery: hashes },
    ...({ event: 'recovery-codes-renewed', subtype: 'renew-recovery-codes' } as const),
  });
  return { recoveryCodes: codes };
}

/** Changes what is enrolled, by a code of it. */
async function changeOwn(
  services: AccountServices,
  caller: Caller,
  body: unknown,
  { change, event, subtype }: { change: Change; event: SecurityEvent; subtype: Subtype },
): Promise<void> {
  const { actor, factor, email } = await own(services, caller);
  if (factor.seed === undefined) throw new Refusal('invalid', 'There is no second factor');
  await useOwn(services, factor, body, async (shown) => [
    ...noticeActions(event, { userId: factor.userId, email, nowMs: shown.nowMs }),
    await useCodeAction(services.keyRings.totp, factor, { ...shown, change }),
    aliveAction(caller.loginId),
    mfaAudit(services, actor, { subtype, code: shown.code }),
  ]);
}

async function own(services: AccountServices, caller: Caller) {
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [userKey, keys.mfa(caller.subject)]);
  const login = requireOwnLogin(actor.login);
  return { actor, factor: secondFactorOf(caller.subject, found), login, email: emailOf(found.get(userKey)) };
}

/** @param actionsOf among them one named `login`, which holds while the caller's own has not ended */
async function useOwn(
  services: AccountServices,
  { userId }: SecondFactor,
  body: unknown,
  actionsOf: (shown: { code: string; nowMs: number }) => Promise<Action[]>,
): Promise<void> {
  const { token } = parse(codeBody, body);
  const takeBack = await countCode(services, userId, 'session');
  const actions = await actionsOf({ code: token, nowMs: services.now() });
  const refused = (failed: ReadonlySet<string>) =>
    failed.has('login') ? unauthorized('login ended') : wrongCode();
  await services.table.transact(actions).catch(orThrow(refused));
  await takeBack();
}

function mfaAudit(
  services: AccountServices,
  actor: Actor,
  { subtype, code = '' }: { subtype: Subtype; code?: string },
): Action {
  const isRecovered = recoveryHash(actor.subject, code) !== undefined;
  const detail = details({ shown: 'recovery code' });
  const entities = [{ ...ownUser(actor), ...(isRecovered ? { detail } : {}) }];
  return auditAction(services, actor, { subtype, action: 'U', entities });
}
