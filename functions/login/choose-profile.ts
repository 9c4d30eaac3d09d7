import { isId } from '../../shared/fhir/resource.ts';
import { choicesOf } from '../../shared/invitation/choices.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { chooseMembership, type LoginCode } from './choose-membership.ts';

/**
 * Picks one of the memberships that a login may choose.
 * @param body `{login, profile}`, the profile being the id of a membership
 * @throws {Refusal} invalid
 */
export async function chooseProfile(services: Services, body: unknown): Promise<LoginCode> {
  const { login: loginId, profile } = (body ?? {}) as Record<string, unknown>;
  const refused = new Refusal('invalid', 'Sign in again');
  if (typeof loginId !== 'string' || !isId(loginId)) throw refused;
  const key = keys.login(loginId);
  const login = (await services.table.read([key])).get(key);
  if (login?.kind !== 'person' || login.membershipId !== undefined || login.revoked === true) throw refused;
  const onlyProject = login.onlyProject as string | undefined;
  const choices = await choicesOf(services, String(login.subject), onlyProject, login);
  const chosen = choices.find(({ membership }) => membership.id === profile);
  if (!chosen) throw refused;
  return chooseMembership(services, loginId, chosen);
}
