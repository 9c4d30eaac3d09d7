import { isAdministrative } from '../fhir/administrative.ts';
import type { Resource } from '../fhir/resource.ts';
import { isObject } from '../fields-of.ts';
import { bucketOf, idIndex, type Place, type Stretch } from './span.ts';

/** The index over all types by which what belongs to a Patient is found. */
export const compartmentIndex = '_compartment';

/** What is administrative belongs to no patient's record. */
export function isInPatientIndex(type: string): boolean {
  return !isAdministrative(type);
}

/** The Patients that a resource refers to in whatever element, and a Patient itself; as references. */
export function patientsOf(resource: Resource): Set<string> {
  const found = new Set<string>();
  if (!isInPatientIndex(resource.resourceType)) return found;
  if (resource.resourceType === 'Patient') found.add(`Patient/${resource.id}`);
  collect(resource, found);
  return found;
}

/** A Patient is in its own compartment, and found there by its id: it has no item for that. */
export function compartmentPlaces(resource: Resource): Place[] {
  const own = `${resource.resourceType}/${resource.id}`;
  return [...patientsOf(resource)]
    .filter((patient) => patient !== own)
    .map((patient) => compartmentPlace(patient, resource));
}

export function compartmentPlace(patient: string, { resourceType }: Resource): Place {
  return { bucket: bucketOf(patient), sort: resourceType };
}

/** Where everything of one type is that belongs to a Patient. @param patient `Patient/id` */
export function compartmentStretches(patient: string, type: string): Stretch[] {
  const others = compartmentStretch(patient, type);
  return type === 'Patient'
    ? [others, { index: idIndex, bucket: patient.slice('Patient/'.length) }]
    : [others];
}

/** Where everything is that refers to a Patient; of one type, when it is named. @param patient `Patient/id` */
export function compartmentStretch(patient: string, type?: string): Stretch {
  return {
    index: compartmentIndex,
    bucket: bucketOf(patient),
    ...(type === undefined ? {} : { prefix: `${type}#` }),
  };
}

const literal = /^Patient\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;

function collect(value: unknown, found: Set<string>): void {
  if (!isObject(value)) return;
  const { reference } = value;
  const id = typeof reference === 'string' ? literal.exec(reference)?.[1] : undefined;
  if (id !== undefined) found.add(`Patient/${id}`);
  for (const part of Object.values(value)) collect(part, found);
}
