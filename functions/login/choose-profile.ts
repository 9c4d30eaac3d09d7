import { isMadeFor } from '../../shared/auth/person-login.ts';
import { Refusal } from '../../shared/refusal.ts';
import { chooseMembership } from './choose-membership.ts';
import type { LoginServices } from './invitation-of-link.ts';
import { requireOpenLogin } from './open-login.ts';
import { choicesWithin, enrolmentStep, type SignInStep } from './sign-in-step.ts';

/**
 * Picks one of the memberships that a login may choose. One that wants a second factor of a person who
 * has none leads to its enrolment first.
 * @param body `{login, profile}`, the profile being the id of a membership
 * @throws {Refusal} invalid
 */
export async function chooseProfile(services: LoginServices, body: unknown): Promise<SignInStep> {
  const { login: id, profile } = (body ?? {}) as Record<string, unknown>;
  const { login } = await requireOpenLogin(services, id);
  const refused = new Refusal('invalid', 'Sign in again');
  if (login.needsMfa === true && login.mfa !== true) throw refused;
  const choices = await choicesWithin(services, login);
  const chosen = choices.find(({ membership }) => membership.id === profile);
  if (!chosen) throw refused;
  if (!isMadeFor(login, chosen.membership)) return enrolmentStep(services, login);
  return chooseMembership(services, login.id, chosen);
}
