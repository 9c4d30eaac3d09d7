import { splitValue, unescapeValue } from '../../index/escape.ts';
import { type Parameter, parametersOf } from '../../index/registry.ts';
import type { Modifier } from '../../search/kinds/modifiers.ts';
import { isKeyOf } from '../../typed-keys.ts';
import { variable } from '../variable.ts';
import { joinWords } from './join-words.ts';

/** `Type?param=value&…` in its parts; the values between commas, as they are meant. */
interface Condition {
  parameter: Parameter;
  modifier: string | undefined;
  values: readonly string[];
}

/** Values of a policy's variables by name, without the percent sign. */
export type Variables = ReadonlyMap<string, string>;

/**
 * What criteria ask of a resource, as `organization is Organization/7 and birthdate is at or after 2000`.
 * @param type the type of the rule, or `*`
 * @param variables of a member; left out, variables stand for themselves
 * @returns undefined for what cannot be read, and so matches nothing
 */
export function criteriaWords(type: string, criteria: string, variables?: Variables): string | undefined {
  const conditions = parseConditions(type, criteria, variables);
  return conditions && joinWords(conditions.map(conditionWords));
}

/** Whether criteria ask for the one resource that a variable names, and for nothing else. */
export function isOneRecord(criteria: string, variable: '%profile.id' | '%patient.id'): boolean {
  return criteria.split(/\?(.*)/s)[1] === `_id=${variable}`;
}

function parseConditions(type: string, criteria: string, variables?: Variables): Condition[] | undefined {
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  const filled = query.replace(variable, (name) =>
    encodeURIComponent(variables === undefined ? name : (variables.get(name.slice(1)) ?? '')),
  );
  const pairs = [...new URLSearchParams(filled)];
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
  const verb = modifier === undefined ? verbs[parameter.type] : verbOfModifier(modifier);
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

const verbs: Record<Parameter['type'], string> = {
  token: 'is',
  string: 'starts with',
  reference: 'is',
  date: 'is',
  number: 'is',
  quantity: 'is',
  uri: 'is',
  composite: 'is',
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

const ordered = new Set<Parameter['type']>(['date', 'number', 'quantity']);

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
