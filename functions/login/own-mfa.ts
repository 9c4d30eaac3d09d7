import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import type { Subtype } from '../../shared/audit/subtypes.ts';
import { admit } from '../../shared/auth/actor.ts';
import { requireOwnLogin } from '../../shared/auth/own-login.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { keys } from '../../shared/table/keys.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';
import { countCode } from './count-codes.ts';
import type { LoginServices } from './invitation-of-link.ts';
import {
  enrolAction,
  provenAction,
  type SecondFactor,
  secondFactorOf,
  useCodeAction,
  wrongCode,
} from './second-factor.ts';
import { enrolmentOf } from './sign-in-step.ts';

/** Whether a person has a second factor; if not, the secret that this login may enrol. */
export type MfaStatus = { enrolled: true } | { enrolled: false; enrollUri: string; enrollQrCode: string };

/** @throws {Refusal} forbidden for logins that do not speak for the whole person */
export async function readMfaStatus(services: LoginServices, caller: Caller): Promise<MfaStatus> {
  const { factor } = await own(services, caller);
  if (factor.seed !== undefined) return { enrolled: true };
  const of = { id: caller.loginId, userId: caller.subject };
  return { enrolled: false, ...(await enrolmentOf(services, of)) };
}

/** @param body `{token}` @throws {Refusal} forbidden, invalid, throttled; conflict when there is one already */
export async function enrollMfa(services: LoginServices, caller: Caller, body: unknown): Promise<void> {
  const { factor, login } = await own(services, caller);
  if (factor.seed !== undefined) throw new Refusal('conflict', 'There is a second factor already');
  await useOwn(services, factor, body, async (code) => [
    enrolAction(await services.secret(), factor, { loginId: caller.loginId, code, nowMs: services.now() }),
    provenAction(login),
    auditAction(services, caller, 'enrol-second-factor'),
  ]);
}

/** @param body `{token}` @throws {Refusal} forbidden, invalid, throttled */
export async function disableMfa(services: LoginServices, caller: Caller, body: unknown): Promise<void> {
  const { factor } = await own(services, caller);
  if (factor.seed === undefined) throw new Refusal('invalid', 'There is no second factor');
  await useOwn(services, factor, body, async (code) => [
    useCodeAction(await services.secret(), factor, {
      code,
      nowMs: services.now(),
      set: 'REMOVE seed, lastStep',
    }),
    auditAction(services, caller, 'disable-second-factor'),
  ]);
}

async function own(services: LoginServices, caller: Caller) {
  const loginKey = keys.login(caller.loginId);
  const { found } = await admit(services, caller, [loginKey, keys.mfa(caller.subject)]);
  const login = requireOwnLogin(found.get(loginKey));
  return { factor: secondFactorOf(caller.subject, found), login };
}

async function useOwn(
  services: LoginServices,
  { userId }: SecondFactor,
  body: unknown,
  actionsOf: (code: unknown) => Promise<Action[]>,
): Promise<void> {
  const takeBack = await countCode(services, userId);
  try {
    await services.table.transact(await actionsOf(((body ?? {}) as Record<string, unknown>).token));
  } catch (error) {
    throw error instanceof ConditionFailed ? wrongCode() : error;
  }
  await takeBack();
}

function auditAction(services: LoginServices, caller: Caller, subtype: Subtype): Action {
  const audited: Audited = {
    project: caller.project,
    subtype,
    action: 'U',
    outcome: '0',
    agent: { reference: caller.profile },
    entities: [{ reference: `User/${caller.subject}` }],
  };
  return { name: 'audit', put: auditItem(audited, services.newId(), services.now()) };
}
