import { isAdministrative } from '../../base/resource.ts';
import { readQuery } from '../../base/schema.ts';
import { isKeyOf, typedKeys } from '../../base/values.ts';
import {
  isResourceType,
  type Modifier,
  parametersOf,
  type SearchParameter,
} from '../../store/index/registry.ts';
import { splitValue, unescapeValue } from '../../store/index/value.ts';
import { closesBytes } from './contains.ts';
import { type Interaction, type Rule, reading, variable, writing } from './parse-policy.ts';
import { rulesOfKind } from './rules-of-kind.ts';

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(words: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** `Type?param=value&…` in its parts; the values between commas, as they are meant. */
interface Condition {
  parameter: SearchParameter;
  modifier: string | undefined;
  values: readonly string[];
}

/** Values of a policy's variables by name, without the percent sign. */
type Variables = ReadonlyMap<string, string>;

/**
 * What criteria ask of a resource, as `organization is Organization/7 and birthdate is at or after 2000`.
 * @param type the type of the rule, or `*`
 * @param variables of a member; left out, variables stand for themselves
 * @returns undefined for what cannot be read, and so matches nothing
 */
function criteriaWords(type: string, criteria: string, variables?: Variables): string | undefined {
  const conditions = parseConditions(type, criteria, variables);
  return conditions && joinWords(conditions.map(conditionWords));
}

/** Whether criteria ask for the one resource that a variable names, and for nothing else. */
function isOneRecord(criteria: string, variable: '%profile.id' | '%patient.id'): boolean {
  return criteria.split(/\?(.*)/s)[1] === `_id=${variable}`;
}

function parseConditions(type: string, criteria: string, variables?: Variables): Condition[] | undefined {
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  const filled = query.replace(variable, (name) =>
    encodeURIComponent(variables === undefined ? name : (variables.get(name.slice(1)) ?? '')),
  );
  const pairs = [...readQuery(filled)];
  if (of !== type || pairs.length === 0) return undefined;
  const conditions = pairs.map(([name, value]): Condition | undefined => {
    const [code = '', modifier] = name.split(/:(.*)/s);
    const parameter = parametersOf(type === '*' ? 'Resource' : type).get(code);
    return parameter && value !== ''
      ? { parameter, modifier, values: splitValue(value, ',').map(unescapeValue) }
      : undefined;
  });
  return conditions.every((one) => one !== undefined) ? conditions : undefined;
}

function conditionWords({ parameter, modifier, values }: Condition): string {
  const name = names[parameter.code] ?? parameter.code;
  if (modifier === 'missing') return `${name} ${values[0] === 'true' ? 'has no value' : 'has a value'}`;
  const usual = parameter.type === 'string' ? 'starts with' : 'is';
  const verb = modifier === undefined ? usual : verbOfModifier(modifier);
  // What has no words of its own stands as it was written.
  if (verb === undefined) return `${name}:${modifier} is ${joinWords(values.map(valueWords), 'or')}`;
  const isOrdered = modifier === undefined && ordered.has(parameter.type);
  const words = values.map((value) => (isOrdered ? comparisonWords(value) : `${verb} ${valueWords(value)}`));
  return `${name} ${joinWords(words, 'or')}`;
}

function verbOfModifier(modifier: string): string | undefined {
  return isKeyOf(modifierVerbs, modifier) ? modifierVerbs[modifier] : undefined;
}

const names: Readonly<Record<string, string>> = {
  _id: 'the id',
  _tag: 'a tag',
  _security: 'a security label',
};

/** Undefined: it stands as it was written. */
const modifierVerbs: Record<Modifier, string | undefined> = {
  exact: 'is exactly',
  contains: 'contains',
  not: 'is not',
  text: undefined,
  identifier: undefined,
  below: undefined,
  above: undefined,
};

const ordered = new Set<SearchParameter['type']>(['date', 'number', 'quantity']);

/** R4 search, prefixes. */
const prefixes: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  gt: 'is after',
  lt: 'is before',
  ge: 'is at or after',
  le: 'is at or before',
  sa: 'starts after',
  eb: 'ends before',
  ap: 'is about',
};

function comparisonWords(value: string): string {
  const [, prefix, rest] = /^([a-z]{2})(.+)$/.exec(value) ?? [];
  const words = prefix === undefined ? undefined : prefixes[prefix];
  return words === undefined || rest === undefined
    ? `is ${valueWords(value)}`
    : `${words} ${valueWords(rest)}`;
}

const ownVariables: Readonly<Record<string, string>> = {
  '%profile': 'their own profile',
  '%profile.id': 'the id of their own profile',
  '%patient': 'their own patient',
  '%patient.id': 'the id of their own patient',
};

function valueWords(value: string): string {
  return ownVariables[value] ?? value;
}

/** What a rule says, in a sentence; `interactions` are those that the sentence speaks of. */
export interface Statement {
  resourceType: string;
  interactions: readonly Interaction[];
  text: string;
  /** Of a statement about every type: those that it leaves out. */
  except?: readonly string[];
}

/** To whom a rule applies. */
export interface Whom {
  isAdministrator: boolean;
  /** Of a member; left out for a policy as it is written. */
  variables?: Variables;
}

/** A rule as a sentence: what it lets somebody do, to what, and with which parts closed. Pure. */
export function ruleWords(rule: Rule, whom: Whom): Statement {
  const { resourceType } = rule;
  const interactions = effectiveInteractions(rule, whom);
  const nothing = (why: string): Statement => ({
    ...{ resourceType, interactions: [], text: `Grants nothing: ${why}.` },
  });
  if (resourceType !== '*' && !isResourceType(resourceType))
    return nothing(`${resourceType} is not a resource type`);
  if (rule.interactions.size === 0) return nothing('the list of interactions is empty');
  const missing = missingVariable(rule, whom);
  if (missing !== undefined) return nothing(`${missing} has no value for this member`);
  const where =
    rule.criteria === undefined ? undefined : criteriaWords(resourceType, rule.criteria, whom.variables);
  if (rule.criteria !== undefined && where === undefined)
    return nothing(`the criteria ${rule.criteria} cannot be understood`);
  if (interactions.length === 0) return nothing(whyNothing(resourceType));
  const text = `May ${verbsOf(interactions)} ${objectOf(rule, where)}${closedWords(rule, interactions)}.`;
  const except = resourceType === '*' && closesBytes(rule) ? { except: ['Binary'] } : {};
  return { resourceType, interactions, text, ...except };
}

function missingVariable({ criteria = '' }: Rule, { variables }: Whom): string | undefined {
  return variables && criteria.match(variable)?.find((name) => !variables.get(name.slice(1)));
}

/** Those of a rule's interactions that come to anything. */
function effectiveInteractions(rule: Rule, { isAdministrator }: Whom): Interaction[] {
  const { resourceType, interactions } = rule;
  if ((resourceType === 'Binary' && closesBytes(rule)) || resourceType === 'User') return [];
  return [...reading, ...writing, 'execute' as const].filter((one) => {
    if (!interactions.has(one)) return false;
    if (one === 'execute') return resourceType === 'Bot';
    if (!isAdministrative(resourceType)) return true;
    if (reading.includes(one)) return resourceType !== 'AuditEvent' || isAdministrator;
    return (
      isAdministrator && !unwritable.includes(`${resourceType} ${one}`) && !system.includes(resourceType)
    );
  });
}

/** Changed by no FHIR interaction, and made by none. */
const system = ['AuditEvent', 'Project', 'ProjectMembership'];
const unwritable = ['Bot create', 'ClientApplication create'];

function whyNothing(type: string): string {
  if (type === 'User') return 'a User is read and changed by that user only';
  if (type === 'Binary') return 'a Binary is nothing without its bytes';
  if (type === 'AuditEvent') return 'AuditEvents are read by administrators only';
  return isAdministrative(type)
    ? `${nounOf(type)} are changed by administrators only, in their own pages`
    : 'only Bots can be run';
}

/** In the order in which a sentence names them. */
const interactionWords: Record<Interaction, string> = {
  ...{
    read: 'open',
    search: 'search',
    vread: 'open earlier versions of',
    history: 'list earlier versions of',
  },
  ...{ create: 'create', update: 'change', delete: 'delete', execute: 'run' },
};

function verbsOf(interactions: readonly Interaction[]): string {
  const isAll = reading.every((one) => interactions.includes(one));
  const named = typedKeys(interactionWords).filter(
    (one) => interactions.includes(one) && !(isAll && reading.includes(one)),
  );
  return joinWords([...(isAll ? ['read'] : []), ...named.map((one) => interactionWords[one])]);
}

function objectOf(rule: Rule, where: string | undefined): string {
  const { resourceType, criteria, compartment } = rule;
  const noun = `${nounOf(resourceType)}${resourceType === '*' && closesBytes(rule) ? ' but Binary' : ''}`;
  if (compartment !== undefined) return `${noun} about ${compartments[compartment] ?? compartment}`;
  if (criteria === undefined) return noun;
  if (isOneRecord(criteria, '%profile.id')) return `their own ${resourceType} record`;
  if (isOneRecord(criteria, '%patient.id')) return `the ${resourceType} record of each linked patient`;
  return `${noun} where ${where}`;
}

const compartments: Readonly<Record<string, string>> = {
  '%profile': 'themselves',
  '%patient': 'each linked patient',
};

function nounOf(type: string): string {
  if (type === '*') return 'clinical records of every type';
  if (/(ia|ge)$/.test(type)) return `${type} records`;
  return type.replace(/y$/, 'ie').concat('s');
}

function closedWords(
  { hiddenFields, readonlyFields, writableFields }: Rule,
  interactions: readonly Interaction[],
): string {
  const isWriting = interactions.some((one) => writing.includes(one));
  return [
    hiddenFields.length > 0 ? `, without ${joinWords(hiddenFields)}` : '',
    isWriting && readonlyFields.length > 0 ? `, and not write ${joinWords(readonlyFields)}` : '',
    isWriting && writableFields ? `, changing only ${joinWords(writableFields)}` : '',
  ].join('');
}

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
