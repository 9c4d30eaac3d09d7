import { isId, parseReference, type Reference } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import { projectIdOf } from '../../store/fhir/membership.ts';
import { openState } from '../../store/items/content.ts';
import { auditAction } from '../audit/audit-event.ts';
import { isToPickPatient, patientInContext } from '../gate/launch-context.ts';
import { acceptActions, signedInAction } from '../invitations/accept.ts';
import type { Standing } from '../invitations/state.ts';
import { patientsOf } from '../policies/rules.ts';
import { nameOf, noteViewer } from './invitation-of-link.ts';
import { isAlive, type Login, loginOf, signInAgain } from './logins.ts';
import { codeMs, newLoginCode } from './person-login.ts';
import { recoveredAction } from './proof.ts';

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
    throw signInAgain();
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
  const project = projectIdOf(membership);
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
      const display = written.get(reference) ?? (head && nameOf((await openState(table, head))?.resource));
      return { reference, ...(display ? { display } : {}) };
    }),
  );
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
  const { membership, userId } = standing;
  const profile = membership.profile.reference;
  const person = { project: projectIdOf(membership), membership, subject: userId, profile };
  const extra = [
    ...(login.recovered === true ? [recoveredAction(services, person)] : []),
    ...(login.replaces ? endActions(services, login.replaces) : []),
  ];
  return chooseMembership(services, login.id, standing, { ...chosen, extra });
}

/** The login that goes on as this one. When it has ended meanwhile, so has the sign-in that both rest on. */
function endActions(
  services: Services,
  { loginId, project, profile }: NonNullable<OpenLogin['replaces']>,
): Action[] {
  const event = { subtype: 'sign-out', action: 'E', entities: [] } as const;
  return [
    {
      name: 'replaced login',
      update: keys.login(loginId),
      set: 'SET revoked = :true',
      if: isAlive,
      values: { ':true': true },
    },
    auditAction(services, { project, agent: { reference: profile } }, event),
  ];
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
  const nowMs = services.now();
  const chosen: Action = {
    name: 'login',
    update: keys.login(loginId),
    set: `SET membershipId = :membership, #project = :project, codeHash = :hash, codeExpiresAtMs = :until, chosenAtMs = :now${
      patient === undefined ? '' : ', patient = :patient'
    }`,
    if: 'attribute_exists(pk) AND attribute_not_exists(membershipId) AND attribute_not_exists(revoked) AND (attribute_not_exists(needsMfa) OR needsMfa = :false OR mfa = :true)',
    names: { '#project': 'project' },
    values: {
      ...{ ':membership': membership.id, ':project': projectIdOf(membership) },
      ...{ ':hash': hash, ':until': nowMs + codeMs, ':now': nowMs, ':false': false, ':true': true },
      ...(patient === undefined ? {} : { ':patient': patient }),
    },
  };
  const joined = membership.active
    ? [signedInAction(projectIdOf(membership), membership.id, nowMs)]
    : acceptActions(services, standing, { signsIn: true });
  await services.table.transact([chosen, ...joined, ...extra]).catch(orThrow(signInAgain));
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
  if (!isId(id)) throw signInAgain();
  const item = loginOf(await readItem(table, keys.login(id)));
  if (item?.kind !== 'person' || item.membershipId !== undefined || item.revoked === true)
    throw signInAgain();
  return { login: { ...item, id, userId: item.subject }, item };
}
