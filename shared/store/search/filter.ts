import { longestSearchValue } from '../../base/limits.ts';
import { invalidField } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { withoutKeys } from '../../base/values.ts';
import type { ConditionRequest, SearchedInterval, ValueCondition } from '../index/condition.ts';
import { compartmentRange, type KeyRange, keyRangesOf, sortOf } from '../index/key-range.ts';
import { kinds } from '../index/kinds.ts';
import { isInCompartment } from '../index/reference.ts';
import { isLeftOut, parametersOf, type SearchParameter } from '../index/registry.ts';
import { patientCompartment } from '../index/search-parameters.ts';
import { remembered, splitValue, unescapeValue, valuesOf } from '../index/value.ts';

/** One condition of a search, ready to be matched and to be looked up. */
export interface Filter {
  /** By which a cursor knows it. */
  name: string;
  /** @param step before each look at the values of a parameter; what it throws ends the work */
  matches(resource: Resource, step?: () => void): boolean;
  /** Where all of its hits are indexed; undefined when the index does not help. */
  keyRanges: readonly KeyRange[] | undefined;
  /** How few hits it promises; the lowest is looked up. */
  rank: number;
  /** What it looks at. */
  parameters: readonly SearchParameter[];
  /** How many comparisons a value of a resource takes. */
  alternatives: number;
  /** For dates and numbers: what is asked, so that two bounds of one parameter narrow one look-up. */
  interval?: SearchedInterval | undefined;
  /** Whether an index item of its key ranges alone shows that its resource is a hit. */
  proves?: ((range: KeyRange, sk: string) => boolean) | undefined;
  /** For references without a modifier: those of which one is asked. */
  references?: readonly string[] | undefined;
}

/** What a search may list between commas: each is a look-up of its own, of an id a read. */
const mostAlternatives = 200;
const mostIds = 1000;
const mostComposites = 50;

/**
 * One `name[:modifier]=value` as a condition; none when it narrows nothing.
 * @param own what absolute references to our own resources begin with, `https://…/fhir/R4/`
 * @throws {Refusal} invalid
 */
export function parseFilter(type: string, name: string, value: string, own = ''): Filter[] {
  const [code = '', modifier] = name.split(/:(.*)/s);
  const parameter = requireParameter(type, code, name);
  if (parameter.composite) {
    if (modifier !== undefined) throw invalidField(name, `${code} has no modifiers`);
    return [compositeFilter(type, parameter, value, own)];
  }
  // A text that every text starts with narrows nothing; a picker sends it before anything is typed.
  if (parameter.type === 'string' && value === '') return [];
  const values = splitValue(value, ',');
  const isOwn = (one: string) => parameter.type === 'reference' && own !== '' && one.startsWith(own);
  const relative = values.map((one) => (isOwn(one) ? one.slice(own.length) : one));
  return [createFilter(parameter, modifier, relative, name)];
}

/**
 * @param values the alternatives between commas, still escaped
 * @param name of the parameter as the caller wrote it
 * @throws {Refusal} invalid, when a value or modifier does not fit the parameter
 */
export function createFilter(
  parameter: SearchParameter,
  modifier: string | undefined,
  values: readonly string[],
  name = parameter.code,
): Filter {
  const { code, index, type, within } = parameter;
  const most = code === '_id' ? mostIds : mostAlternatives;
  if (values.length > most) throw invalidField(name, `${code} has more than ${most} values`);
  if (values.some((value) => value.length > longestSearchValue)) {
    throw invalidField(name, `A value of ${code} is longer than ${longestSearchValue} characters`);
  }
  const asked = { parameter, name, modifier, values };
  const condition = modifier === 'missing' ? missingCondition(asked) : kinds[type].condition(asked);
  const { matches, ranges, interval, proves, alternatives = 1 } = condition;
  const at = code === '_id' ? code : index;
  // What lies within another parameter's values shares its items: they do not tell what is of which.
  const isProvable = proves && !within;
  return {
    name: `${code}:${modifier ?? ''}=${values.join()}`,
    parameters: [parameter],
    matches(resource, step) {
      step?.();
      return matches(valuesOf(resource, parameter));
    },
    keyRanges: ranges && at !== undefined ? keyRangesOf(at, ranges) : undefined,
    rank: rankOf(parameter, interval?.prefix === 'eq'),
    ...{ alternatives, interval },
    proves: isProvable ? (range, sk) => range.index === index && proves(range.bucket, sortOf(sk)) : undefined,
    references: type === 'reference' && modifier === undefined ? values.map(unescapeValue) : undefined,
  };
}

function missingCondition({ parameter: { code }, name, values }: ConditionRequest): ValueCondition {
  const [value] = values;
  if (values.length !== 1 || (value !== 'true' && value !== 'false')) {
    throw invalidField(name, `${code}:missing must be true or false`);
  }
  return { matches: (found) => (found.length === 0) === (value === 'true') };
}

/** By the kind of parameter: an id, an identifier, a reference, … a flag. */
function rankOf({ code, type, paths }: SearchParameter, isPoint: boolean): number {
  if (code === '_id') return 0;
  if (code === '_lastUpdated') return 9;
  if (type === 'token') {
    if (paths.every(({ type }) => type === 'code' || type === 'boolean' || type === '$deceased')) return 8;
    return code === 'identifier' ? 1 : 4;
  }
  if (type === 'reference' || type === 'uri') return 2;
  if (type === 'string') return 3;
  return isPoint ? 5 : 7;
}

/** @param step as for each of them */
export function matchesAll(resource: Resource, filters: readonly Filter[], step?: () => void): boolean {
  return filters.every((filter) => filter.matches(resource, step));
}

/** The best of the conditions that can be looked up. */
export function bestOf(filters: readonly Filter[]): Filter | undefined {
  return filters.filter(({ keyRanges }) => keyRanges).sort((a, b) => a.rank - b.rank)[0];
}

/** How many comparisons a value of a resource takes for all of them. */
export function alternativesOf(filters: readonly Pick<Filter, 'alternatives'>[]): number {
  return filters.reduce((sum, filter) => sum + filter.alternatives, 0);
}

/** A condition that no index leads to. */
export function unindexed(
  name: string,
  filters: readonly Pick<Filter, 'parameters' | 'alternatives'>[],
  matches: Filter['matches'],
): Filter {
  const parameters = filters.flatMap((filter) => filter.parameters);
  const alternatives = alternativesOf(filters);
  return { name, matches, parameters, alternatives, keyRanges: undefined, rank: 9 };
}

/** What matches all conditions of any of the alternatives, each of which is looked up by its best one. */
export function anyOf(name: string, alternatives: readonly (readonly Filter[])[]): Filter {
  const best = alternatives.map(bestOf);
  const isLed = best.every((filter) => filter !== undefined);
  return {
    ...unindexed(name, alternatives.flat(), (resource, step) =>
      alternatives.some((filters) => matchesAll(resource, filters, step)),
    ),
    keyRanges: isLed ? best.flatMap((filter) => filter?.keyRanges ?? []) : undefined,
    rank: Math.max(...best.map((filter) => filter?.rank ?? 9)),
  };
}

/**
 * R4 composite search, `code-value-quantity=8480-6$gt150`: all parts hold inside of one element. Its parts are
 * parameters of their own, asked of the resource as if it had that element alone.
 */
function compositeFilter(type: string, parameter: SearchParameter, value: string, own: string): Filter {
  const { code, composite } = parameter;
  const { elements = [], parts = [] } = composite ?? {};
  const alternatives = splitValue(value, ',').map((one) => {
    const values = splitValue(one, '$');
    if (values.length !== parts.length || values.includes('')) {
      throw invalidField(code, `${code} is ${parts.join('$')}`);
    }
    return parts.flatMap((part, i) => parseFilter(type, part, values[i] ?? '', own));
  });
  if (alternatives.length > mostComposites) {
    throw invalidField(code, `${code} has more than ${mostComposites} values`);
  }
  const inOneElement = anyOf(`${code}:=${value}`, alternatives);
  return {
    ...inOneElement,
    parameters: parts.flatMap((part) => parametersOf(type).get(part) ?? []),
    matches(resource, step) {
      const known = piecesBy(resource);
      const pieces = known.get(parameter) ?? elements.flatMap((one) => piecesOf(resource, one, elements));
      known.set(parameter, pieces);
      return pieces.some((piece) => inOneElement.matches(piece, step));
    },
    alternatives: elements.length * inOneElement.alternatives,
  };
}

const piecesBy = remembered((_: Resource) => new Map<SearchParameter, readonly Resource[]>());

/**
 * The resource with one entry of an element alone, or beside the rest of it; as itself without those of the other
 * elements.
 */
function piecesOf(resource: Resource, element: string, all: readonly string[]): Resource[] {
  if (element === '.') return [withoutKeys(resource, (name) => all.includes(name))];
  const name = element.replace('+', '');
  const { resourceType, id, meta } = resource;
  const rest = element === name ? { resourceType, id, meta } : resource;
  return [resource[name] ?? []].flat().map((one) => ({ ...rest, [name]: [one] }));
}

/**
 * What is in the compartment of a Patient, as R4's CompartmentDefinition says it.
 * @param patient `Patient/<id>`
 * @throws {Refusal} invalid for another compartment, or a type that none has
 */
export function compartmentFilter(type: string, patient: string): Filter {
  if (!/^Patient\/[A-Za-z0-9\-.]{1,64}$/.test(patient)) {
    throw invalidField('_compartment', 'A compartment is that of a Patient, Patient/<id>');
  }
  const codes = patientCompartment[type]?.split(' ') ?? [];
  const parameters = codes.flatMap((code) => parametersOf(type).get(code) ?? []);
  const [only, other] = parameters;
  if (!only) throw invalidField('_compartment', `${type} is in no Patient's compartment`);
  if (!other) return createFilter(only, undefined, [patient]);
  return {
    name: `_compartment=${patient}`,
    parameters,
    matches: (resource) => isInCompartment(resource, patient),
    keyRanges: [compartmentRange(patient, type)],
    rank: 2,
    alternatives: parameters.length,
  };
}

/** Why what the definitions name is not served, by type: distances, and parameters that are not R4's. */
const reasons: Readonly<Record<string, string>> = {
  ClientApplication: 'issuers are settings of a Project',
  Location: 'distances are not measured, search by address',
  ResearchStudy: 'it is of R5, and its parts are no parameters of R4',
};

/** @throws {Refusal} invalid */
export function requireParameter(type: string, code: string, name = code): SearchParameter {
  const parameter = parametersOf(type).get(code);
  if (parameter) return parameter;
  if (isLeftOut(type, code)) {
    const reason = reasons[type] ?? 'it is no parameter of R4';
    throw invalidField(name, `The search parameter ${code} of ${type} is not supported: ${reason}`);
  }
  throw invalidField(name, `Unknown search parameter ${code} of ${type}`);
}

/** @throws {Refusal} invalid */
export function requireReference(type: string, code: string, name: string): SearchParameter {
  const parameter = requireParameter(type, code, name);
  if (parameter.type === 'reference') return parameter;
  throw invalidField(name, `${code} of ${type} is no reference`);
}
