import type { Resource } from '../fhir/resource.ts';
import { patientCompartment } from './patient-compartment.ts';
import { referencesOf } from './reference.ts';
import { parametersOf } from './registry.ts';
import { valuesOf } from './value.ts';

/**
 * Whether a resource refers to the patient by one of the parameters that R4's CompartmentDefinition
 * names for its type; a reference by any other element does not count.
 * @param patient `Patient/<id>`
 */
export function isInCompartment(resource: Resource, patient: string): boolean {
  const codes = patientCompartment[resource.resourceType]?.split(' ') ?? [];
  return codes.some((code) => {
    const parameter = parametersOf(resource.resourceType).get(code);
    return parameter && valuesOf(resource, parameter).flatMap(referencesOf).includes(patient);
  });
}
