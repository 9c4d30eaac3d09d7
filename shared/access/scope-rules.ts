import { parseReference } from '../fhir/resource.ts';
import type { Actor } from './actor.ts';
import { patientsOf } from './policy.ts';
import type { Rule } from './rule.ts';
import { interactionsOf, type ResourceScope, resourceScopes } from './smart-scope.ts';

/**
 * The rules that the scopes of a login amount to; undefined when it has no resource scope, for then
 * only the policy narrows. A scope whose context the actor has not grants nothing.
 */
export function scopeRules(
  actor: Pick<Actor, 'scope' | 'profile' | 'membership' | 'patient'>,
): Rule[] | undefined {
  const scopes = resourceScopes(actor.scope);
  if (scopes.length === 0) return undefined;
  const rules = scopes.flatMap((scope) => {
    const rule = ruleOf(scope);
    if (scope.context === 'patient')
      return patientsInContext(actor).map((compartment) => ({ ...rule, compartment }));
    return (scope.context === 'system') === isProgram(actor) ? [rule] : [];
  });
  return [...rules, ...ownProfileRules(actor)];
}

/** SMART App Launch 2, `fhirUser`: an app that is told who the person is may read that one resource. */
function ownProfileRules(actor: Pick<Actor, 'scope' | 'profile'>): Rule[] {
  const own = parseReference(actor.profile);
  if (!own || isProgram(actor) || !actor.scope.split(' ').includes('fhirUser')) return [];
  const criteria = `${own.type}?_id=${own.id}`;
  return [
    {
      ...{ resourceType: own.type, criteria, interactions: new Set(['read']) },
      hiddenFields: [],
      readonlyFields: [],
    },
  ];
}

function patientsInContext({ membership, patient }: Pick<Actor, 'membership' | 'patient'>): string[] {
  const all = patientsOf(membership);
  return patient === undefined ? all : all.filter((one) => one === `Patient/${patient}`);
}

function ruleOf(scope: ResourceScope): Rule {
  return {
    resourceType: scope.type,
    ...(scope.query === undefined ? {} : { criteria: `${scope.type}?${scope.query}` }),
    interactions: interactionsOf(scope),
    hiddenFields: [],
    readonlyFields: [],
  };
}

function isProgram({ profile }: Pick<Actor, 'profile'>): boolean {
  const type = parseReference(profile)?.type;
  return type === 'ClientApplication' || type === 'Bot';
}
