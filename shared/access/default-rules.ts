import { parseReference } from '../fhir/resource.ts';
import type { Actor } from './actor.ts';
import { patientsOf } from './policy.ts';
import type { Rule } from './rule.ts';
import { rulesOfKind } from './rules-of-kind.ts';

/** What a membership allows that names no policy, by its kind of profile. */
export function defaultRules({ profile, membership }: Pick<Actor, 'profile' | 'membership'>): Rule[] {
  const own = parseReference(profile);
  const patients = patientsOf(membership).map((reference) => ({
    reference,
    id: parseReference(reference)?.id ?? '',
  }));
  return own ? rulesOfKind(own.type, { reference: profile, id: own.id }, patients) : [];
}
