import { parseReference } from '../../base/resource.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { patientsOf } from '../policies/rules.ts';

const launchPatient = 'launch/patient';

/**
 * Whether an app asks to be told whose record it is for (SMART App Launch 2, launch context requests), and the member
 * has several patients.
 */
export function isToPickPatient(scope: string, membership: ProjectMembership): boolean {
  return scope.split(' ').includes(launchPatient) && patientsOf(membership).length > 1;
}

/**
 * Whose record a login is for: the patient that was chosen, or the only one that the member has. Undefined
 * when no scope is about a patient, and when it is open which of several.
 * @param chosen reference; what is not the member's any more is nobody's
 */
export function patientInContext(
  scope: string,
  membership: ProjectMembership,
  chosen: string | undefined,
): string | undefined {
  const isWanted = scope.split(' ').some((one) => one === launchPatient || one.startsWith('patient/'));
  if (!isWanted) return undefined;
  const patients = patientsOf(membership);
  const [only, ...others] = patients;
  if (chosen !== undefined) return patients.find((one) => one === chosen);
  return others.length === 0 ? only : undefined;
}

/** The scopes asked for without `launch/patient` when there is no patient to tell of: it is not granted then. */
export function grantedScope(scope: string, patient: string | undefined): string {
  if (patient !== undefined) return scope;
  return scope
    .split(' ')
    .filter((one) => one !== launchPatient)
    .join(' ');
}

/** SMART's `patient` is the bare id. */
export function patientId(reference: string | undefined): string | undefined {
  return parseReference(reference)?.id;
}
