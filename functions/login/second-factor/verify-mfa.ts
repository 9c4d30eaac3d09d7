import type { SecurityEvent } from '../../../shared/email/security-mails.ts';
import type { KeyRing } from '../../../shared/keys/key-ring.ts';
import { aliveAction } from '../../../shared/login/alive-action.ts';
import { noticeActions } from '../../../shared/login/security-notice.ts';
import { emailOf } from '../../../shared/login/user-email.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Action, ConditionFailed } from '../../../shared/table/transact.ts';
import { codeOfLoginBody } from '../bodies.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { requireOpenLogin } from '../sign-in/open-login.ts';
import { nextStep, type SignInStep } from '../sign-in/sign-in-step.ts';
import { countCodeOfLogin } from './count-codes.ts';
import { type NewRecoveryCodes, newRecoveryCodes, recoveryHash } from './recovery-codes.ts';
import {
  enrolAction,
  provenAction,
  type SecondFactor,
  secondFactorOf,
  useCodeAction,
  wrongCode,
} from './second-factor.ts';

/**
 * A person shows their second factor in a login that waits for it.
 * @param body `{login, token}`, the token being the six digits that their phone shows, or a recovery code
 * @throws {Refusal} invalid, throttled
 */
export function verifyMfa(services: LoginServices, body: unknown): Promise<SignInStep> {
  return prove(services, body, { actionOf: useCodeAction });
}

/**
 * A person enrols the second factor that a membership wants, with the secret that this login was shown.
 * @param body `{login, token}`
 * @returns what comes next, and the first recovery codes beside it
 * @throws {Refusal} invalid, throttled
 */
export async function enrollMfaInLogin(
  services: LoginServices,
  body: unknown,
): Promise<SignInStep & NewRecoveryCodes> {
  let codes: string[] = [];
  const actionOf: ActionOfCode = (stage, factor, of) => {
    const made = newRecoveryCodes(factor.userId);
    codes = made.codes;
    return enrolAction(stage, factor, { ...of, recovery: made.hashes });
  };
  const step = await prove(services, body, { actionOf, event: 'second-factor-added' });
  return { ...step, recoveryCodes: codes };
}

type ActionOfCode = (
  ring: KeyRing,
  factor: SecondFactor,
  of: { loginId: string; code: string; nowMs: number },
) => Promise<Action>;

async function prove(
  services: LoginServices,
  body: unknown,
  { actionOf, event }: { actionOf: ActionOfCode; event?: SecurityEvent },
): Promise<SignInStep> {
  const { login: id, token: code } = parse(codeOfLoginBody, body);
  const { login, item } = await requireOpenLogin(services, id);
  // An issuer vouches for one Project perhaps: it neither sets nor shows what is the person's own.
  if (login.issuer !== undefined) throw new Refusal('invalid', 'Sign in again');
  const takeBack = await countCodeOfLogin(services, item);
  const [mfaKey, userKey] = [keys.mfa(login.userId), keys.user(login.userId)];
  const found = await services.table.read([mfaKey, userKey]);
  const factor = secondFactorOf(login.userId, found);
  const nowMs = services.now();
  const action = await actionOf(services.keyRings.totp, factor, { loginId: login.id, code, nowMs });
  const isRecovered = event === undefined && recoveryHash(login.userId, code) !== undefined;
  const told = isRecovered ? 'recovery-code-used' : event;
  const of = { userId: login.userId, email: emailOf(found.get(userKey)), nowMs };
  try {
    await services.table.transact([
      action,
      provenAction(item, isRecovered),
      ...(login.replaces ? [aliveAction(login.replaces.loginId)] : []),
      ...(told === undefined ? [] : noticeActions(told, of)),
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw error.failed.has('login') ? new Refusal('invalid', 'Sign in again') : wrongCode();
  }
  await takeBack();
  return nextStep(services, { ...login, mfa: true, recovered: isRecovered });
}
