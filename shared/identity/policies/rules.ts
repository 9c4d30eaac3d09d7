import { jsonBytes } from '../../base/json.ts';
import { parseReference, type Reference, type Resource } from '../../base/resource.ts';
import { readQuery } from '../../base/schema.ts';
import { type Budget, bytesPerValue } from '../../carry/table/budget.ts';
import { touches } from '../../store/fhir/fields.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import type { ParameterStep } from '../../store/index/registry.ts';
import type { Filter } from '../../store/search/filter.ts';
import type { Actor, NamedPolicy } from '../gate/actor.ts';
import { parsePolicy, type Rule, variable } from './parse-policy.ts';
import { newRule, rulesOfKind } from './rules-of-kind.ts';
import { interactionsOf, type ResourceScope, resourceScopes } from './smart-scope.ts';

/** Whose rights they are, as far as variables and the rights of a kind of profile depend on it. */
export interface Subject {
  profile: string;
  membership: Pick<ProjectMembership, 'profile' | 'patient'>;
}

/** The rules of the policies that a membership names. An entry that cannot be understood grants nothing. */
export function policyRules(member: Subject, policies: readonly NamedPolicy[]): Rule[] {
  return policies.flatMap(({ policy, parameters }) => {
    const variables = variablesOf(member, parameters);
    return rulesWith(policy, (name) => variables.get(name));
  });
}

/** What a membership allows that names no policy, by its kind of profile. */
export function defaultRules({ profile, membership }: Subject): Rule[] {
  const own = parseReference(profile);
  const patients = patientsOf(membership).map((reference) => ({
    reference,
    id: parseReference(reference)?.id ?? '',
  }));
  return own ? rulesOfKind(own.type, { reference: profile, id: own.id }, patients) : [];
}

/** Stands for what nobody can know: no value of a variable is this. */
export const unknownValue = crypto.randomUUID();

/** The rules of a policy for whoever has it: a variable has the same value as itself, and as nothing else. */
export function rulesForAnybody(policy: Resource): Rule[] {
  return rulesWith(policy, (name) => `${unknownValue}.${name}`);
}

function rulesWith(policy: Resource, valueFor: (name: string) => string | undefined): Rule[] {
  return parsePolicy(policy, () => undefined).flatMap((entry) => {
    if (entry.criteria === undefined) return [entry];
    const criteria = replaceVariables(entry.criteria, valueFor);
    return criteria === undefined ? [] : [{ ...entry, criteria }];
  });
}

/** Values that stay one value inside a `_filter` expression, quoted or not. */
const plain = /^[\w\-./|:,]+$/;

/** Of criteria with the values in place. */
const longestCriteria = 64 * 1024;

/**
 * Undefined when a variable has no value, or one that would change the expression of a `_filter`: the criteria must not
 * match more than they say. So it is when they come to be longer than a policy.
 */
function replaceVariables(
  criteria: string,
  valueFor: (name: string) => string | undefined,
): string | undefined {
  let complete = true;
  let { length } = criteria;
  const isExpression = readQuery(criteria.split(/\?(.*)/s)[1] ?? '').has('_filter');
  const text = criteria.replace(variable, (name) => {
    if (!complete) return '';
    const value = valueFor(name.slice(1));
    if (!value || (isExpression && !plain.test(value))) complete = false;
    const encoded = encodeURIComponent(value ?? '');
    length += encoded.length;
    if (length > longestCriteria) complete = false;
    return encoded;
  });
  return complete ? text : undefined;
}

/**
 * `%profile` is the profile's reference. `%patient` is that of a Patient, and of a RelatedPerson all
 * patients that it is linked to, as alternatives. Parameters have their own names.
 */
export function variablesOf(actor: Subject, parameters: NamedPolicy['parameters']): Map<string, string> {
  const variables = new Map<string, string>();
  const patients = patientsOf(actor.membership);
  variables.set('patient', patients.join(','));
  variables.set('patient.id', patients.map((one) => one.replace('Patient/', '')).join(','));
  for (const { name, valueString, valueReference } of parameters) {
    addReference(variables, name, valueReference ?? { reference: valueString ?? '' });
  }
  addReference(variables, 'profile', { reference: actor.profile });
  return variables;
}

/** Whether a variable has a value from the membership itself, without a parameter. */
export function isOwnVariable(name: string): boolean {
  return /^(?:patient|profile)(?:\.id)?$/.test(name);
}

const mostPatients = 20;

/** References of the patients whose compartments are the member's own: themself, or those it is linked to. */
export function patientsOf({
  profile,
  patient = [],
}: Pick<ProjectMembership, 'profile' | 'patient'>): string[] {
  const own = profile.reference;
  const type = parseReference(own)?.type;
  if (type === 'Patient') return [own];
  if (type !== 'RelatedPerson') return [];
  return patient
    .filter(({ reference }) => parseReference(reference)?.type === 'Patient')
    .map(({ reference }) => reference)
    .slice(0, mostPatients);
}

function addReference(variables: Map<string, string>, name: string, { reference }: Reference): void {
  variables.set(name, reference);
  variables.set(`${name}.id`, parseReference(reference)?.id ?? '');
}

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
  return [newRule(own.type, ['read'], { criteria: `${own.type}?_id=${own.id}` })];
}

function patientsInContext({ membership, patient }: Pick<Actor, 'membership' | 'patient'>): string[] {
  const all = patientsOf(membership);
  return patient === undefined ? all : all.filter((one) => one === `Patient/${patient}`);
}

function ruleOf(scope: ResourceScope): Rule {
  const more = scope.query === undefined ? {} : { criteria: `${scope.type}?${scope.query}` };
  return newRule(scope.type, interactionsOf(scope), more);
}

function isProgram({ profile }: Pick<Actor, 'profile'>): boolean {
  const type = parseReference(profile)?.type;
  return type === 'ClientApplication' || type === 'Bot';
}

/** What a criterion asks for, and looks at. */
export interface Criterion {
  filters: readonly Filter[];
  /** How many comparisons a value of a resource takes. */
  alternatives: number;
}

/** The values of a resource that an alternative is compared with, about. */
const valuesOfParameter = 3;
/** Reading an alternative takes as long as so many comparisons. */
const comparisonsToRead = 30;

/** Criteria with more are priced by the length of the resource too. */
const usualAlternatives = 20;

/** What it takes to match a resource, in comparisons. */
export function comparisonsOf({ alternatives }: Criterion, resource: Resource): number {
  const more = Math.max(0, alternatives - usualAlternatives);
  const values = more > 0 ? jsonBytes(resource) / bytesPerValue : 0;
  return alternatives * valuesOfParameter + more * values;
}

/** What was read of each rule, by the type of resources that it was asked of: as long as the rule is held. */
const known = new WeakMap<Rule, Map<string, Criterion>>();

/**
 * A rule's criterion for resources of a type; without filters, that is with a text that cannot be read, it matches
 * nothing. The matcher is loaded with the first criterion: most memberships have none, and it is large.
 */
export async function criterionOf(
  rule: Rule,
  type: string,
  budget: Pick<Budget, 'spend'>,
): Promise<Criterion | undefined> {
  if (rule.criteria === undefined) return undefined;
  const ofRule = known.get(rule) ?? new Map<string, Criterion>();
  known.set(rule, ofRule);
  const remembered = ofRule.get(type);
  if (remembered) return remembered;
  const { criteriaFilters } = await import('../../store/search/search-request.ts');
  budget.spend('comparisons', comparisonsToRead);
  const filters = criteriaFilters(rule.criteria, type);
  const alternatives = filters.reduce((sum, one) => sum + one.alternatives, 0);
  budget.spend('comparisons', alternatives * comparisonsToRead);
  const criterion = { filters, alternatives };
  ofRule.set(type, criterion);
  return criterion;
}

/**
 * Whether a resource is one that the rule speaks of.
 * @param criterion what the rule asks of resources of this type
 * @param whole what the resource is a part of, and shares its compartment with
 */
export async function matchesRule(
  { compartment }: Rule,
  criterion: Criterion | undefined,
  resource: Resource,
  budget: Pick<Budget, 'require'>,
  whole = resource,
): Promise<boolean> {
  if (compartment !== undefined && !(await inCompartment(whole, compartment))) return false;
  if (!criterion) return true;
  const { filters } = criterion;
  const step = () => budget.require('comparisons', 0);
  return filters.length > 0 && filters.every((filter) => filter.matches(resource, step));
}

/** In a Patient's compartment: the Patient itself, or what R4 says belongs to it. Loaded when needed. */
async function inCompartment(resource: Resource, patient: string): Promise<boolean> {
  if (`${resource.resourceType}/${resource.id}` === patient) return true;
  const { isInCompartment } = await import('../../store/index/reference.ts');
  return isInCompartment(resource, patient);
}

/** A search parameter, as far as it matters what it looks at. */
export interface Searched {
  code: string;
  paths: readonly { steps: readonly Pick<ParameterStep, 'element' | 'where'>[] }[];
}

/** Whether a search by the parameter tells of an element that is hidden. */
export function looksAt({ paths }: Pick<Searched, 'paths'>, hidden: readonly string[]): boolean {
  return paths.some(({ steps }) => {
    const names = steps.map(({ element }) => element);
    // `relatedArtifact.where(type = 'derived-from')` tells of the type too.
    const chosenBy = steps.flatMap(({ where }, i) => (where ? [[...names.slice(0, i + 1), where.name]] : []));
    return hidden.some((path) => [names, ...chosenBy].some((looked) => touches(path, looked)));
  });
}
