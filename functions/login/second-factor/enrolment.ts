import { enrolment } from '../../../shared/login/totp.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { newSeed, secondFactorOf } from './second-factor.ts';

/** What hands the secret that this login may enrol to a phone. */
export async function enrolmentOf(services: LoginServices, login: { id: string; userId: string }) {
  const { id, userId } = login;
  const userKey = keys.user(userId);
  const [found, stage] = await Promise.all([
    services.table.read([userKey, keys.mfa(userId)]),
    services.secret(),
  ]);
  const label = String(inlineResource('User', found.get(userKey))?.email ?? userId);
  return enrolment(stage, { userId, seed: newSeed(id, secondFactorOf(userId, found)) }, label);
}
