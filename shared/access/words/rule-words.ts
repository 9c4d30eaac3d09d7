import { isAdministrative } from '../../fhir/administrative.ts';
import { isResourceType } from '../../index/registry.ts';
import type { Interaction, Rule } from '../rule.ts';
import { variable } from '../variable.ts';
import { criteriaWords, isOneRecord, type Variables } from './criteria-words.ts';
import { joinWords } from './join-words.ts';

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

/** What is closed on administrative types, whatever a policy says (SPEC section 1). */
const reading: readonly Interaction[] = ['read', 'vread', 'search', 'history'];
const writing: readonly Interaction[] = ['create', 'update', 'delete'];

/** A rule as a sentence: what it lets somebody do, to what, and with which parts closed. Pure. */
export function ruleWords(rule: Rule, whom: Whom): Statement {
  const { resourceType } = rule;
  const interactions = effectiveInteractions(rule, whom);
  const nothing = (why: string): Statement => ({
    resourceType,
    interactions: [],
    text: `Grants nothing: ${why}.`,
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

/** Its bytes are all there is to a Binary. */
function closesBytes({ hiddenFields, readonlyFields }: Rule): boolean {
  return [...hiddenFields, ...readonlyFields].some((path) => path === 'data' || path === 'contentType');
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

function verbsOf(interactions: readonly Interaction[]): string {
  const has = (one: Interaction) => interactions.includes(one);
  const isAll = reading.every(has);
  const verbs = [
    ...(isAll ? ['read'] : partOfReading(has)),
    ...(has('create') ? ['create'] : []),
    ...(has('update') ? ['change'] : []),
    ...(has('delete') ? ['delete'] : []),
    ...(has('execute') ? ['run'] : []),
  ];
  return joinWords(verbs);
}

function partOfReading(has: (one: Interaction) => boolean): string[] {
  return [
    ...(has('read') ? ['open'] : []),
    ...(has('search') ? ['search'] : []),
    ...(has('vread') ? ['open earlier versions of'] : []),
    ...(has('history') ? ['list earlier versions of'] : []),
  ];
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
