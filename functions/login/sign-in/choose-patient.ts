import { isToPickPatient, patientInContext } from '../../../shared/access/launch-context.ts';
import { patientsOf } from '../../../shared/access/policy.ts';
import { parseReference, type Reference } from '../../../shared/fhir/resource.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { textOf } from '../../../shared/index/value.ts';
import type { Standing } from '../../../shared/invitation/state.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { openState } from '../../../shared/store/content.ts';
import { keys } from '../../../shared/table/keys.ts';
import { noteViewer } from '../note-viewer.ts';
import type { OpenLogin } from './open-login.ts';

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
export async function choosePatient(
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
      const display = written.get(reference) ?? (head && nameIn(await openState({ table, project }, head)));
      return { reference, ...(display ? { display } : {}) };
    }),
  );
}

function nameIn(opened: { resource: object } | undefined): string | undefined {
  const { name } = fieldsOf(opened?.resource);
  const { text, given, family } = fieldsOf(fieldsOf(name)[0]);
  return textOf(text) ?? [given ?? [], family].flat().filter(Boolean).join(' ');
}
