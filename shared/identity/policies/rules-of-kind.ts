import type { ProfileType } from '../../base/resource.ts';
import { isKeyOf } from '../../base/values.ts';
import { type Interaction, type Rule, reading, writing } from './parse-policy.ts';

/** A record by its reference, and by its id alone. */
interface Named {
  reference: string;
  id: string;
}

type RulesOf = (own: Named, patients: readonly Named[]) => Rule[];

const all: RulesOf = () => [newRule('*', [...reading, ...writing]), newRule('Bot', ['execute'])];

const kinds: Record<ProfileType | 'ClientApplication' | 'Bot', RulesOf> = {
  Practitioner: all,
  ClientApplication: all,
  Bot: all,
  Patient: patientRules,
  RelatedPerson: ({ id }, patients) => [
    newRule('RelatedPerson', reading, { criteria: `RelatedPerson?_id=${id}` }),
    ...patients.flatMap((patient) => patientRules(patient)),
  ],
};

/**
 * What a membership allows that names no policy, by the type of its profile. Pure.
 * @param own the profile
 * @param patients those whose compartments are the member's own
 */
export function rulesOfKind(type: string, own: Named, patients: readonly Named[]): Rule[] {
  return isKeyOf(kinds, type) ? kinds[type](own, patients) : [];
}

/** Contact details that a patient keeps up to date; everything else of the record is the clinic's. */
const patientContactFields = ['telecom', 'address', 'communication', 'photo', 'contact'] as const;

function patientRules({ reference, id }: Named): Rule[] {
  return [
    newRule('Patient', [...reading, 'update'], {
      criteria: `Patient?_id=${id}`,
      writableFields: patientContactFields,
    }),
    newRule('*', reading, { compartment: reference }),
  ];
}

/** A rule that closes no element. */
export function newRule(
  resourceType: string,
  interactions: Iterable<Interaction>,
  more: Pick<Rule, 'criteria' | 'compartment' | 'writableFields'> = {},
): Rule {
  return { resourceType, interactions: new Set(interactions), hiddenFields: [], readonlyFields: [], ...more };
}
