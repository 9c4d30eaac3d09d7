import type { Reference } from '../../../shared/fhir/resource.ts';
import { choicesOf } from '../../../shared/invitation/choices.ts';
import type { Standing } from '../../../shared/invitation/state.ts';
import { isMadeFor } from '../../../shared/login/person-login.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { enrolmentOf } from '../second-factor/enrolment.ts';
import type { LoginCode } from './choose-membership.ts';
import { finishWith } from './choose-membership.ts';
import type { LoginPatients } from './choose-patient.ts';
import type { OpenLogin } from './open-login.ts';

/** A login that has to choose one of these with `POST auth/profile`. */
interface LoginChoices {
  login: string;
  memberships: { id: string; project: Reference; profile: Reference }[];
}

/** A login that has to show a second factor with `POST auth/mfa/verify`. */
interface LoginWantsCode {
  login: string;
  mfaRequired: true;
}

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
  if (!first) throw new Refusal('invalid', 'Sign in again');
  if (!within.some(({ membership }) => isMadeFor(login, membership))) return enrolmentStep(services, login);
  if (within.length === 1 && first.membership.active) return finishWith(services, login, first);
  return { login: login.id, memberships: within.map(choice) };
}

/** Those that a password opens, and those that it opens with a second factor. */
export function choicesWithin(services: LoginServices, login: OpenLogin): Promise<Standing[]> {
  const made = login.issuer === undefined ? { ...login, mfa: true } : login;
  return choicesOf(services, login.userId, login.onlyProject, made);
}

export async function enrolmentStep(services: LoginServices, login: OpenLogin): Promise<LoginWantsEnrolment> {
  return { login: login.id, mfaEnrollRequired: true, ...(await enrolmentOf(services, login)) };
}

/** A membership as a person is offered it. */
export function choice({ membership: { id, project, profile } }: Standing) {
  return { id, project, profile };
}
