import { parseReference, type Reference } from '../fhir/resource.ts';
import type { Actor } from './actor.ts';
import type { Interaction, Rule } from './policy.ts';

const everything: readonly Interaction[] = [
  'create',
  'read',
  'vread',
  'update',
  'delete',
  'search',
  'history',
];
const reading: readonly Interaction[] = ['read', 'vread', 'search', 'history'];

/** What a membership allows that names no policy, by its kind of profile. */
export function defaultRules(actor: Actor): Rule[] {
  const profile = parseReference(actor.profile);
  switch (profile?.type) {
    case 'Practitioner':
    case 'ClientApplication':
    case 'Bot':
      return [rule('*', everything), rule('Bot', [...reading, 'execute'])];
    case 'Patient':
      return patientRules(profile.id, actor.profile);
    case 'RelatedPerson':
      return [
        rule('RelatedPerson', reading, { criteria: `RelatedPerson?_id=${profile.id}` }),
        ...linkedPatients(actor).flatMap((id) => patientRules(id, `Patient/${id}`)),
      ];
    default:
      return [];
  }
}

/** Contact details that a patient keeps up to date; everything else of the record is the clinic's. */
const patientContactFields = ['telecom', 'address', 'communication', 'photo', 'contact'] as const;

function patientRules(id: string, reference: string): Rule[] {
  return [
    rule('Patient', [...reading, 'update'], {
      criteria: `Patient?_id=${id}`,
      writableFields: patientContactFields,
    }),
    rule('*', reading, { compartment: reference }),
  ];
}

function linkedPatients(actor: Actor): string[] {
  const patients = Array.isArray(actor.membership.patient) ? (actor.membership.patient as Reference[]) : [];
  return patients.flatMap(({ reference }) => parseReference(reference)?.id ?? []);
}

function rule(resourceType: string, interactions: readonly Interaction[], more: Partial<Rule> = {}): Rule {
  return { resourceType, interactions: new Set(interactions), hiddenFields: [], readonlyFields: [], ...more };
}
