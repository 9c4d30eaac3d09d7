import { parseReference } from '../fhir/resource.ts';
import type { Actor } from './actor.ts';
import { patientsOf } from './policy.ts';
import type { Interaction, Rule } from './rule.ts';

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
      return [rule('*', everything), rule('Bot', ['execute'])];
    case 'Patient':
      return patientRules(actor.profile);
    case 'RelatedPerson':
      return [
        rule('RelatedPerson', reading, { criteria: `RelatedPerson?_id=${profile.id}` }),
        ...patientsOf(actor.membership).flatMap(patientRules),
      ];
    default:
      return [];
  }
}

/** Contact details that a patient keeps up to date; everything else of the record is the clinic's. */
const patientContactFields = ['telecom', 'address', 'communication', 'photo', 'contact'] as const;

function patientRules(reference: string): Rule[] {
  return [
    rule('Patient', [...reading, 'update'], {
      criteria: `Patient?_id=${parseReference(reference)?.id}`,
      writableFields: patientContactFields,
    }),
    rule('*', reading, { compartment: reference }),
  ];
}

function rule(resourceType: string, interactions: readonly Interaction[], more: Partial<Rule> = {}): Rule {
  return { resourceType, interactions: new Set(interactions), hiddenFields: [], readonlyFields: [], ...more };
}
