import { isInCompartment } from '../index/compartment.ts';
import { patientCompartment } from '../index/patient-compartment.ts';
import { compartmentStretch } from '../index/patient-index.ts';
import { parametersOf } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';
import { createFilter, type Filter } from './filter.ts';

/**
 * What is in the compartment of a Patient, as R4's CompartmentDefinition says it.
 * @param patient `Patient/<id>`
 * @throws {Refusal} invalid for another compartment, or a type that none has
 */
export function compartmentFilter(type: string, patient: string): Filter {
  if (!/^Patient\/[A-Za-z0-9\-.]{1,64}$/.test(patient)) {
    throw invalidField('_compartment', 'A compartment is that of a Patient, Patient/<id>');
  }
  const codes = patientCompartment[type]?.split(' ') ?? [];
  const parameters = codes.flatMap((code) => parametersOf(type).get(code) ?? []);
  const [only, other] = parameters;
  if (!only) throw invalidField('_compartment', `${type} is in no Patient's compartment`);
  if (!other) return createFilter(only, undefined, [patient]);
  return {
    name: `_compartment=${patient}`,
    parameters,
    matches: (resource) => isInCompartment(resource, patient),
    stretches: [compartmentStretch(patient, type)],
    rank: 2,
    alternatives: parameters.length,
  };
}
