import { auditItem } from '../../../shared/audit/audit-event.ts';
import { acceptActions, signInAction } from '../../../shared/invitation/accept.ts';
import type { Standing } from '../../../shared/invitation/state.ts';
import { codeMs, newLoginCode } from '../../../shared/login/login-code.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Action, ConditionFailed } from '../../../shared/table/transact.ts';
import { choosePatient, type LoginPatients } from './choose-patient.ts';
import type { OpenLogin } from './open-login.ts';

/** What a client exchanges for tokens. */
export interface LoginCode {
  login: string;
  code: string;
}

/**
 * Finishes a sign-in with a membership, or asks first whose record the app is for.
 * @param patient the reference that the person has picked
 * @throws {Refusal} invalid as choosePatient and chooseMembership
 */
export async function finishWith(
  services: Services,
  login: OpenLogin,
  standing: Standing,
  patient?: string,
): Promise<LoginCode | LoginPatients> {
  const chosen = await choosePatient(services, login, standing, patient);
  if ('ask' in chosen) return chosen.ask;
  const extra = [
    ...(login.recovered === true ? [recoveredAction(services, standing)] : []),
    ...(login.replaces ? endActions(services, login.replaces) : []),
  ];
  return chooseMembership(services, login.id, standing, { ...chosen, extra });
}

/** The login that goes on as this one. When it has ended meanwhile, so has the sign-in that both rest on. */
function endActions(
  { newId, now }: Services,
  { loginId, project, profile }: NonNullable<OpenLogin['replaces']>,
): Action[] {
  const audited = {
    ...({ subtype: 'sign-out', action: 'E', outcome: '0' } as const),
    project,
    agent: { reference: profile },
    entities: [],
  };
  return [
    {
      name: 'replaced login',
      update: keys.login(loginId),
      set: 'SET revoked = :true',
      if: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
      values: { ':true': true },
    },
    { name: 'sign-out', put: auditItem(audited, newId(), now()) },
  ];
}

/** Tells the Project that a recovery code stood for the phone. */
function recoveredAction({ newId, now }: Services, { membership, userId }: Standing): Action {
  const { project, profile } = membership;
  const audited = {
    ...({ subtype: 'use-recovery-code', action: 'E', outcome: '0' } as const),
    project: project.reference.replace(/^Project\//, ''),
    agent: profile,
    entities: [{ reference: `User/${userId}` }],
  };
  return { name: 'audit', put: auditItem(audited, newId(), now()) };
}

/**
 * Binds a login to one membership, once. Choosing an invitation that is still open accepts it.
 * @param more.patient reference of the Patient whose record the login is for
 * @param more.extra what must be written with it or not at all
 * @throws {Refusal} invalid when the login has chosen already, or the membership has changed
 */
export async function chooseMembership(
  services: Services,
  loginId: string,
  standing: Standing,
  { patient, extra = [] }: { patient?: string | undefined; extra?: readonly Action[] } = {},
): Promise<LoginCode> {
  const { membership } = standing;
  const { code, hash } = newLoginCode(loginId);
  try {
    await services.table.transact([
      {
        name: 'login',
        update: keys.login(loginId),
        set: `SET membershipId = :membership, #project = :project, codeHash = :hash, codeExpiresAtMs = :until, chosenAtMs = :now${
          patient === undefined ? '' : ', patient = :patient'
        }`,
        if: 'attribute_exists(pk) AND attribute_not_exists(membershipId) AND attribute_not_exists(revoked) AND (attribute_not_exists(needsMfa) OR needsMfa = :false OR mfa = :true)',
        names: { '#project': 'project' },
        values: {
          ':membership': membership.id,
          ':project': membership.project.reference.replace(/^Project\//, ''),
          ':hash': hash,
          ':until': services.now() + codeMs,
          ':now': services.now(),
          ':false': false,
          ':true': true,
          ...(patient === undefined ? {} : { ':patient': patient }),
        },
      },
      ...(membership.active
        ? [signInAction(standing, services.now())]
        : acceptActions(services, standing, { signsIn: true })),
      ...extra,
    ]);
  } catch (error) {
    if (error instanceof ConditionFailed) throw new Refusal('invalid', 'Sign in again');
    throw error;
  }
  return { login: loginId, code };
}
