import { rulesOfKind } from '../rules-of-kind.ts';
import { ruleWords, type Statement } from './rule-words.ts';

const own = { reference: '%profile', id: '%profile.id' };
const patient = { reference: '%patient', id: '%patient.id' };

/**
 * What a membership without a policy allows, in plain words.
 * @param who.profileType `Practitioner`, `Patient` and so on
 * @param who.hasPatients whether a RelatedPerson is linked to any
 */
export function defaultWords(who: {
  profileType: string;
  isAdministrator: boolean;
  hasPatients: boolean;
}): Statement[] {
  if (who.isAdministrator) return [administratorWords];
  const rules = rulesOfKind(who.profileType, own, who.hasPatients ? [patient] : []);
  return rules.map((rule) => ruleWords(rule, { isAdministrator: false }));
}

/** What nothing narrows. */
export const administratorWords: Statement = {
  resourceType: '*',
  interactions: ['create', 'read', 'vread', 'update', 'delete', 'search', 'history', 'execute'],
  text: 'May do everything in this project: every record, and its people, Bots, policies and API keys.',
};
