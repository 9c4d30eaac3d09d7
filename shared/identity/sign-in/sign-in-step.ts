import { parse } from '../../base/schema.ts';
import type { KeyRing } from '../../carry/keys/key-ring.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import { choice, choicesWithin, type LoginChoices, type LoginWantsCode } from '../invitations/choices.ts';
import type { Standing } from '../invitations/state.ts';
import type { SecurityEvent } from '../mail/letters.ts';
import { hasSignedInRecently, requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { codeOfLoginBody, profileBody } from './bodies.ts';
import {
  finishWith,
  type LoginCode,
  type LoginPatients,
  type OpenLogin,
  requireOpenLogin,
} from './choose-membership.ts';
import type { LoginServices } from './invitation-of-link.ts';
import { aliveAction, emailOf, loginOf, noticeActions, signInAgain } from './logins.ts';
import { recordOfPerson } from './passwords.ts';
import { isMadeFor } from './person-login.ts';
import {
  countCodeOfLogin,
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

/** A login that has to enrol a second factor with `POST auth/mfa/login-enroll`. */
interface LoginWantsEnrolment {
  login: string;
  mfaEnrollRequired: true;
  enrollUri: string;
  enrollQrCode: string;
}

export type SignInStep = LoginCode | LoginChoices | LoginPatients | LoginWantsCode | LoginWantsEnrolment;

/**
 * What comes next for a person who has shown who they are: a second factor; then a membership, which
 * is chosen at once when there is one only; or, when all want a second factor, its enrolment; then, of several
 * patients, the one whose record the app is for.
 * @param choices the memberships within reach, when they are known already
 * @throws {Refusal} invalid when no membership can be chosen
 */
export async function nextStep(
  services: LoginServices,
  login: OpenLogin,
  choices?: readonly Standing[],
): Promise<SignInStep> {
  if (login.needsMfa === true && login.mfa !== true) return { login: login.id, mfaRequired: true };
  const within = choices ?? (await choicesWithin(services, login));
  const [first] = within;
  if (!first) throw signInAgain();
  if (!within.some(({ membership }) => isMadeFor(login, membership))) return enrolmentStep(services, login);
  if (within.length === 1 && first.membership.active) return finishWith(services, login, first);
  return { login: login.id, memberships: within.map(choice) };
}

async function enrolmentStep(services: LoginServices, login: OpenLogin): Promise<LoginWantsEnrolment> {
  return { login: login.id, mfaEnrollRequired: true, ...(await enrolmentOf(services, login)) };
}

/**
 * Picks one of the memberships that a login may choose. One that wants a second factor of a person who
 * has none leads to its enrolment first.
 * @param body `{login, profile, patient?}`, the profile being the id of a membership, the patient a reference
 *   where the login was asked for one
 * @throws {Refusal} invalid
 */
export async function chooseProfile(services: LoginServices, body: unknown): Promise<SignInStep> {
  const { login: id, profile, patient } = parse(profileBody, body);
  const { login } = await requireOpenLogin(services, id);
  if (login.needsMfa === true && login.mfa !== true) throw signInAgain();
  const choices = await choicesWithin(services, login);
  const chosen = choices.find(({ membership }) => membership.id === profile);
  if (!chosen) throw signInAgain();
  if (!isMadeFor(login, chosen.membership)) return enrolmentStep(services, login);
  return finishWith(services, login, chosen, patient);
}

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
 * @throws {Refusal} invalid, throttled; insufficient-user-authentication in a change of Project by who signed in too long ago
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

/** Of a login that goes on from another, that one's token can show again who its person is; else they sign in again. */
function requireRecentStart({ replaces }: OpenLogin, start: Item | undefined, nowMs: number): void {
  const login = loginOf(start);
  if (replaces) requireRecentSignIn({ login }, nowMs);
  else if (!login || !hasSignedInRecently(login, nowMs)) throw signInAgain();
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
  if (login.issuer !== undefined) throw signInAgain();
  const takeBack = await countCodeOfLogin(services, item);
  const [mfaKey, userKey] = [keys.mfa(login.userId), keys.user(login.userId)];
  const from = login.replaces ? keys.login(login.replaces.loginId) : { pk: item.pk, sk: item.sk };
  const found = await services.table.read([mfaKey, userKey, from]);
  const factor = secondFactorOf(login.userId, found);
  const nowMs = services.now();
  if (event === 'second-factor-added') requireRecentStart(login, found.get(from), nowMs);
  const action = await actionOf(services.keyRings.totp, factor, { loginId: login.id, code, nowMs });
  const isRecovered = event === undefined && recoveryHash(login.userId, code) !== undefined;
  const told = isRecovered ? 'recovery-code-used' : event;
  const of = { userId: login.userId, email: emailOf(found.get(userKey)), nowMs };
  const actions = [
    action,
    provenAction(item, event === undefined ? { atMs: nowMs, isRecovered } : undefined),
    ...(login.replaces ? [aliveAction(login.replaces.loginId)] : []),
    ...(told === undefined ? [] : noticeActions(told, of)),
  ];
  const refused = (failed: ReadonlySet<string>) => (failed.has('login') ? signInAgain() : wrongCode());
  await services.table.transact(actions).catch(orThrow(refused));
  await takeBack();
  if (event !== undefined) await recordOfPerson(services, login.userId, 'enrol-second-factor');
  return nextStep(services, { ...login, mfa: true, recovered: isRecovered });
}
