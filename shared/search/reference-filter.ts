import { unescapeValue } from './escape.ts';
import {
  identifierSpans,
  identifiersOf,
  matchesReference,
  referenceSpans,
  referencesOf,
} from './reference.ts';
import { isResourceType, type Parameter } from './registry.ts';
import { matchesToken, parseToken } from './token.ts';
import { InvalidFilter, type Looked } from './wanted.ts';

/** R4 reference search: `Type/id`, `id`, a URL, with `:Type` and `:identifier`. */
export function referenceFilter(
  parameter: Parameter,
  modifier: string | undefined,
  values: readonly string[],
): Looked {
  if (values.includes('')) throw new InvalidFilter(`${parameter.code} has no value`);
  if (modifier === 'identifier') return byIdentifier(values);
  if (modifier !== undefined && !isResourceType(modifier)) {
    throw new InvalidFilter(`The modifier :${modifier} is not supported for ${parameter.code}`);
  }
  const wanted = values.map(unescapeValue);
  return {
    matches: (found) =>
      found
        .flatMap(referencesOf)
        .some((reference) => wanted.some((text) => matchesReference(reference, text, modifier))),
    spans: referenceSpans(wanted),
  };
}

function byIdentifier(values: readonly string[]): Looked {
  const wanted = values.map(parseToken);
  return {
    matches: (found) =>
      found.flatMap(identifiersOf).some((token) => wanted.some((one) => matchesToken(token, one))),
    spans: identifierSpans(wanted),
  };
}
