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

/** A record by its reference, and by its id alone. */
interface Named {
  reference: string;
  id: string;
}

/**
 * What a membership allows that names no policy, by the type of its profile. Pure.
 * @param own the profile
 * @param patients those whose compartments are the member's own
 */
export function rulesOfKind(type: string, own: Named, patients: readonly Named[]): Rule[] {
  switch (type) {
    case 'Practitioner':
    case 'ClientApplication':
    case 'Bot':
      return [rule('*', everything), rule('Bot', ['execute'])];
    case 'Patient':
      return patientRules(own);
    case 'RelatedPerson':
      return [
        rule('RelatedPerson', reading, { criteria: `RelatedPerson?_id=${own.id}` }),
        ...patients.flatMap(patientRules),
      ];
    default:
      return [];
  }
}

/** Contact details that a patient keeps up to date; everything else of the record is the clinic's. */
const patientContactFields = ['telecom', 'address', 'communication', 'photo', 'contact'] as const;

function patientRules({ reference, id }: Named): Rule[] {
  return [
    rule('Patient', [...reading, 'update'], {
      criteria: `Patient?_id=${id}`,
      writableFields: patientContactFields,
    }),
    rule('*', reading, { compartment: reference }),
  ];
}

function rule(resourceType: string, interactions: readonly Interaction[], more: Partial<Rule> = {}): Rule {
  return { resourceType, interactions: new Set(interactions), hiddenFields: [], readonlyFields: [], ...more };
}
