import { invalidField } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import {
  type ConditionRequest,
  type ParameterKind,
  requireModifier,
  type ValueCondition,
} from './condition.ts';
import { bucketOf, nearHash } from './key-range.ts';
import { isResourceType, modifiers, parametersOf } from './registry.ts';
import { patientCompartment } from './search-parameters.ts';
import { mostMatched, parseToken, type TokenValue, tokenMatcher } from './token.ts';
import { fieldOf, remembered, textOf, unescapeValue, type Value, valuesOf } from './value.ts';

/** R4 reference search: `Type/id`, `id`, a URL, with `:Type` and `:identifier`. */
export const referenceKind: ParameterKind = {
  /**
   * Under the id alone, so that an id without type finds them, and under the value of an identifier. The whole
   * reference stands in the sort key, so that an item alone tells whether it is the one that is searched.
   */
  entries: (values) => [
    ...values.flatMap(referencesOf).map((text) => ({ bucket: bucketOfReference(text), sort: sortOf(text) })),
    ...values.flatMap(identifiersOf).map(({ value = '' }) => ({ bucket: bucketOfIdentifier(value) })),
  ],
  condition(asked) {
    const { parameter, name, modifier, values } = asked;
    if (values.includes('')) throw invalidField(name, `${parameter.code} has no value`);
    if (modifier !== undefined && isResourceType(modifier)) return byReference(asked, modifier);
    const ofValue: 'identifier' | undefined = requireModifier(modifiers.reference, asked);
    return ofValue ? byIdentifier(values) : byReference(asked);
  },
  sortTexts: (values) => referencesIn(values),
};

const literal = /(?:^|\/)([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;

/** The reference as a text without version: `Type/id`, a URL, a canonical, a URN. */
export function referencesOf({ type, value, target }: Value): string[] {
  const text = referenceText(type, value);
  if (text === undefined || text.startsWith('#')) return [];
  const pointed = literal.exec(text)?.[1] ?? textOf(fieldOf(value, 'type'));
  return target !== undefined && pointed !== target ? [] : [withoutVersion(text)];
}

/** The identifiers by which references name what they point to (R4 `:identifier`). */
function identifiersOf({ type, value, target }: Value): TokenValue[] {
  const pointed = textOf(fieldOf(value, 'type')) ?? literal.exec(referenceText(type, value) ?? '')?.[1];
  if (target !== undefined && pointed !== undefined && pointed !== target) return [];
  const identifier = fieldOf(value, 'identifier');
  const code = textOf(fieldOf(identifier, 'value'));
  if (code === undefined) return [];
  return [{ system: textOf(fieldOf(identifier, 'system')), value: code, text: undefined, exact: true }];
}

const referencesIn = remembered((values: readonly Value[]) => values.flatMap(referencesOf));
const identifiersIn = remembered((values: readonly Value[]) => values.flatMap(identifiersOf));

/**
 * Whether a resource refers to the patient by one of the parameters that R4's CompartmentDefinition
 * names for its type; a reference by any other element does not count.
 * @param patient `Patient/<id>`
 */
export function isInCompartment(resource: Resource, patient: string): boolean {
  const codes = patientCompartment[resource.resourceType]?.split(' ') ?? [];
  return codes.some((code) => {
    const parameter = parametersOf(resource.resourceType).get(code);
    return parameter && referencesIn(valuesOf(resource, parameter)).includes(patient);
  });
}

/** @param type from the modifier `:Type` */
function byReference({ parameter, values }: ConditionRequest, type?: string): ValueCondition {
  const searched = values.map(unescapeValue);
  const targets = parameter.paths.map(({ target }) => target);
  const isSearched = referenceMatcher(searched, type);
  const only = type ?? (new Set(targets).size === 1 ? targets[0] : undefined);
  const whole = searched.flatMap((text) =>
    text.includes('/') || only === undefined ? [text] : [text, `${only}/${text}`],
  );
  // What items tell is the whole reference: an id alone proves nothing but with the one type that is possible.
  const proofs = whole.map(withoutVersion).filter((text) => {
    const pointed = literal.exec(text)?.[1];
    return targets.every((one) => one === undefined || one === pointed);
  });
  const proven = new Set(proofs.map((text) => `${bucketOfReference(text)} ${sortOf(text)}`));
  return {
    matches: (found) => referencesIn(found).some(isSearched),
    ranges: searched.map((text) => ({ bucket: bucketOfReference(withoutVersion(text)) })),
    proves: (bucket, sort) => proven.has(`${bucket} ${sort}`),
  };
}

function referenceMatcher(
  searched: readonly string[],
  type: string | undefined,
): (reference: string) => boolean {
  if (type !== undefined) {
    const typed = new Set(searched.flatMap((text) => [text, `${type}/${text}`]));
    return (reference) => typed.has(reference);
  }
  const whole = new Set(searched.map(withoutVersion));
  const ids = new Set(searched.filter((text) => !text.includes('/')));
  return (reference) => {
    const [, id] = /^[A-Z][A-Za-z]+\/(.*)$/s.exec(reference) ?? [];
    return whole.has(reference) || (id !== undefined && ids.has(id));
  };
}

function byIdentifier(values: readonly string[]): ValueCondition {
  const searched = values.map(parseToken);
  const isSearched = tokenMatcher(searched);
  const texts = searched.flatMap(({ value }) => value ?? []);
  return {
    matches: (found) => identifiersIn(found).some(isSearched),
    alternatives: mostMatched(searched),
    // No index item leads to a system alone.
    ranges:
      texts.length < searched.length
        ? undefined
        : texts.map((text) => ({ bucket: bucketOfIdentifier(text) })),
  };
}

function sortOf(reference: string): string {
  return `r${nearHash(reference)}`;
}

function bucketOfIdentifier(value: string): string {
  return bucketOf(`identifier ${value.toLowerCase()}`);
}

function bucketOfReference(reference: string): string {
  return bucketOf(literal.exec(reference)?.[2] ?? reference);
}

function referenceText(type: string, value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (type !== 'Resource') return textOf(fieldOf(value, 'reference'));
  const id = textOf(fieldOf(value, 'id'));
  return id && `${fieldOf(value, 'resourceType')}/${id}`;
}

/** `Type/id/_history/v` and `canonical|version` speak of the same resource as without. */
function withoutVersion(reference: string): string {
  return reference.replace(/\/_history\/[^/]+$/, '').replace(/\|[^|/]*$/, '');
}
