import { isMadeFor } from '../../../shared/login/person-login.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { profileBody } from '../bodies.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { finishWith } from './choose-membership.ts';
import { requireOpenLogin } from './open-login.ts';
import { choicesWithin, enrolmentStep, type SignInStep } from './sign-in-step.ts';

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
  const refused = new Refusal('invalid', 'Sign in again');
  if (login.needsMfa === true && login.mfa !== true) throw refused;
  const choices = await choicesWithin(services, login);
  const chosen = choices.find(({ membership }) => membership.id === profile);
  if (!chosen) throw refused;
  if (!isMadeFor(login, chosen.membership)) return enrolmentStep(services, login);
  return finishWith(services, login, chosen, patient);
}
