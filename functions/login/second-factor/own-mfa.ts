import { type Caller, unauthorized } from '../../../shared/access/access-token.ts';
import { type Actor, admit } from '../../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../../shared/audit/audit-event.ts';
import type { Subtype } from '../../../shared/audit/subtypes.ts';
import { doneBy, ownUser } from '../../../shared/audit/who.ts';
import { aliveAction } from '../../../shared/login/alive-action.ts';
import { requireOwnLogin } from '../../../shared/login/own-login.ts';
import { noticeActions } from '../../../shared/login/security-notice.ts';
import { emailOf } from '../../../shared/login/user-email.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Action, ConditionFailed } from '../../../shared/table/transact.ts';
import { codeBody } from '../bodies.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { countCode } from './count-codes.ts';
import { enrolmentOf } from './enrolment.ts';
import { type NewRecoveryCodes, newRecoveryCodes, recoveryHash } from './recovery-codes.ts';
import {
  enrolAction,
  provenAction,
  type SecondFactor,
  secondFactorOf,
  useCodeAction,
  wrongCode,
} from './second-factor.ts';

/** Whether a person has a second factor, and recovery codes; if not, the secret that this login may enrol. */
export type MfaStatus =
  | { enrolled: true; recoveryCodes: number }
  | { enrolled: false; enrollUri: string; enrollQrCode: string };

/** @throws {Refusal} forbidden for logins that do not speak for the whole person */
export async function readMfaStatus(services: LoginServices, caller: Caller): Promise<MfaStatus> {
  const { factor } = await own(services, caller);
  if (factor.seed !== undefined) return { enrolled: true, recoveryCodes: factor.recoveryCodes };
  const of = { id: caller.loginId, userId: caller.subject };
  return { enrolled: false, ...(await enrolmentOf(services, of)) };
}

/**
 * @param body `{token}`
 * @returns the first recovery codes
 * @throws {Refusal} forbidden, invalid, throttled; conflict when there is one already
 */
export async function enrollMfa(
  services: LoginServices,
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
    auditAction(services, actor, { subtype: 'enrol-second-factor' }),
  ]);
  return { recoveryCodes: codes };
}

/** @param body `{token}`, six digits or a recovery code @throws {Refusal} forbidden, invalid, throttled */
export async function disableMfa(services: LoginServices, caller: Caller, body: unknown): Promise<void> {
  const { actor, factor, email } = await ownEnrolled(services, caller);
  await useOwn(services, factor, body, async (shown) => [
    ...noticeActions('second-factor-removed', { userId: factor.userId, email, nowMs: shown.nowMs }),
    await useCodeAction(services.keyRings.totp, factor, { ...shown, change: 'removal' }),
    aliveAction(caller.loginId),
    auditAction(services, actor, { subtype: 'disable-second-factor', code: shown.code }),
  ]);
}

/**
 * Other recovery codes in the place of those that are left.
 * @param body `{token}`, six digits or a recovery code
 * @throws {Refusal} forbidden, invalid, throttled
 */
export async function renewRecoveryCodes(
  services: LoginServices,
  caller: Caller,
  body: unknown,
): Promise<NewRecoveryCodes> {
  const { actor, factor, email } = await ownEnrolled(services, caller);
  const { codes, hashes } = newRecoveryCodes(factor.userId);
  await useOwn(services, factor, body, async (shown) => [
    ...noticeActions('recovery-codes-renewed', { userId: factor.userId, email, nowMs: shown.nowMs }),
    await useCodeAction(services.keyRings.totp, factor, { ...shown, change: { recovery: hashes } }),
    aliveAction(caller.loginId),
    auditAction(services, actor, { subtype: 'renew-recovery-codes', code: shown.code }),
  ]);
  return { recoveryCodes: codes };
}

async function ownEnrolled(services: LoginServices, caller: Caller) {
  const owned = await own(services, caller);
  if (owned.factor.seed === undefined) throw new Refusal('invalid', 'There is no second factor');
  return owned;
}

async function own(services: LoginServices, caller: Caller) {
  const [loginKey, userKey] = [keys.login(caller.loginId), keys.user(caller.subject)];
  const { actor, found } = await admit(services, caller, [loginKey, userKey, keys.mfa(caller.subject)]);
  const login = requireOwnLogin(found.get(loginKey));
  return { actor, factor: secondFactorOf(caller.subject, found), login, email: emailOf(found.get(userKey)) };
}

/** @param actionsOf among them one named `login`, which holds while the caller's own has not ended */
async function useOwn(
  services: LoginServices,
  { userId }: SecondFactor,
  body: unknown,
  actionsOf: (shown: { code: string; nowMs: number }) => Promise<Action[]>,
): Promise<void> {
  const { token } = parse(codeBody, body);
  const takeBack = await countCode(services, userId);
  try {
    await services.table.transact(await actionsOf({ code: token, nowMs: services.now() }));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw error.failed.has('login') ? unauthorized('login ended') : wrongCode();
  }
  await takeBack();
}

function auditAction(
  services: LoginServices,
  actor: Actor,
  { subtype, code = '' }: { subtype: Subtype; code?: string },
): Action {
  const isRecovered = recoveryHash(actor.subject, code) !== undefined;
  const detail = [{ type: 'shown', valueString: 'recovery code' }];
  const audited: Audited = {
    project: actor.project,
    subtype,
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [{ ...ownUser(actor), ...(isRecovered ? { detail } : {}) }],
  };
  return { name: 'audit', put: auditItem(audited, services.newId(), services.now()) };
}
