import { Refusal } from '../../base/refusal.ts';
import { isId, parseReference, type Reference } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, ConditionFailed } from '../../carry/table/transact.ts';
import { textOf } from '../../store/index/value.ts';
import { openState } from '../../store/items/content.ts';
import { auditItem } from '../audit/audit-event.ts';
import { isToPickPatient, patientInContext } from '../gate/launch-context.ts';
import { acceptActions, signInAction } from '../invitations/accept.ts';
import type { Standing } from '../invitations/state.ts';
import { patientsOf } from '../policies/rules.ts';
import { noteViewer } from './invitation-of-link.ts';
import { type Login, loginOf } from './logins.ts';
import { codeMs, newLoginCode } from './person-login.ts';

/** A login whose app asks whose record it is for, of a member with several patients. */
export interface LoginPatients {
  login: string;
  /** The membership that `POST auth/profile {login, profile, patient}` finishes it with. */
  profile: string;
  patients: Reference[];
}

/**
 * Whose record an app is for, or what its person is asked first (SMART App Launch 2, standalone launch with
 * `launch/patient`).
 * @param picked the reference that the person has picked
 * @throws {Refusal} invalid for a patient who is not the member's
 */
async function choosePatient(
  services: Services,
  login: OpenLogin,
  standing: Standing,
  picked?: string,
): Promise<{ ask: LoginPatients } | { patient: string | undefined }> {
  const { membership } = standing;
  const { scope } = login;
  if (picked !== undefined && !patientsOf(membership).some((one) => one === picked)) {
    throw new Refusal('invalid', 'Sign in again');
  }
  if (picked === undefined && isToPickPatient(scope, membership)) {
    const named = await namedPatients(services, standing, login);
    return { ask: { login: login.id, profile: membership.id, patients: named } };
  }
  return { patient: patientInContext(scope, membership, picked) };
}

/**
 * The patients with names to pick by: as whoever linked them has written it, else as their record says where
 * no policy says that the member must not see it.
 */
async function namedPatients(services: Services, standing: Standing, login: OpenLogin): Promise<Reference[]> {
  const { table } = services;
  const { membership } = standing;
  const patients = patientsOf(membership);
  const project = membership.project.reference.replace(/^Project\//, '');
  const written = new Map(membership.patient?.map(({ reference, display }) => [reference, display]));
  const hasPolicy = membership.accessPolicy !== undefined || (membership.access?.length ?? 0) > 0;
  const keyOf = (reference: string) =>
    keys.resource(project, 'Patient', parseReference(reference)?.id ?? 'none');
  const memberKey = keys.resource(project, 'ProjectMembership', membership.id);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await table.read([memberKey, projectKey, ...(hasPolicy ? [] : patients.map(keyOf))]);
  const heads = { member: found.get(memberKey), project: found.get(projectKey) };
  noteViewer(services, standing, { heads, login, named: patients });
  return Promise.all(
    patients.map(async (reference) => {
      const head = found.get(keyOf(reference));
      const display = written.get(reference) ?? (head && nameIn(await openState(table, head)));
      return { reference, ...(display ? { display } : {}) };
    }),
  );
}

function nameIn(opened: { resource: object } | undefined): string | undefined {
  const { name } = fieldsOf(opened?.resource);
  const { text, given, family } = fieldsOf(fieldsOf(name)[0]);
  return textOf(text) ?? [given ?? [], family].flat().filter(Boolean).join(' ');
}

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

/** A login on its way to a membership: what its item says. */
export interface OpenLogin
  extends Pick<
    Login,
    | 'clientId'
    | 'scope'
    | 'onlyProject'
    | 'issuer'
    | 'issuerProject'
    | 'needsMfa'
    | 'mfa'
    | 'recovered'
    | 'replaces'
  > {
  id: string;
  userId: string;
}

/**
 * A person's login that has chosen no membership yet.
 * @throws {Refusal} invalid, one text for one that is unknown, has chosen or has ended
 */
export async function requireOpenLogin(
  { table }: Services,
  id: string,
): Promise<{ login: OpenLogin; item: Login }> {
  const refused = new Refusal('invalid', 'Sign in again');
  if (!isId(id)) throw refused;
  const key = keys.login(id);
  const item = loginOf((await table.read([key])).get(key));
  if (item?.kind !== 'person' || item.membershipId !== undefined || item.revoked === true) throw refused;
  return { login: { ...item, id, userId: item.subject }, item };
}
