import { enrolment } from '../../../shared/login/totp.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { newSeed, secondFactorOf } from './second-factor.ts';

/** What hands the secret that this login may enrol to a phone. */
export async function enrolmentOf(services: LoginServices, login: { id: string; userId: string }) {
  const { id, userId } = login;
  const userKey = keys.user(userId);
  const [found, { key, version }] = await Promise.all([
    services.table.read([userKey, keys.mfa(userId)]),
    services.keyRings.totp.current(),
  ]);
  const label = String(inlineResource('User', found.get(userKey))?.email ?? userId);
  const seed = newSeed(id, secondFactorOf(userId, found), version);
  return enrolment(key, { userId, seed }, label);
}
