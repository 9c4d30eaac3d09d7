import { unescapeValue } from '../../index/escape.ts';
import {
  identifierSpans,
  identifiersOf,
  provesReference,
  referenceMatcher,
  referenceSpans,
  referencesOf,
} from '../../index/reference.ts';
import { isResourceType, type Parameter } from '../../index/registry.ts';
import { parseToken, tokenMatcher } from '../../index/token.ts';
import { InvalidFilter, type Looked, requireModifier } from './wanted.ts';

/** R4 reference search: `Type/id`, `id`, a URL, with `:Type` and `:identifier`. */
export function referenceFilter(
  parameter: Parameter,
  modifier: string | undefined,
  values: readonly string[],
): Looked {
  if (values.includes('')) throw new InvalidFilter(`${parameter.code} has no value`);
  const type = modifier !== undefined && isResourceType(modifier) ? modifier : undefined;
  const how = type === undefined ? requireModifier('reference', parameter, modifier) : undefined;
  switch (how) {
    case 'identifier':
      return byIdentifier(values);
    case undefined:
      return byReference(parameter, values, type);
  }
}

function byReference({ paths }: Parameter, values: readonly string[], type: string | undefined): Looked {
  const wanted = values.map(unescapeValue);
  const targets = paths.map(({ target }) => target);
  const isWanted = referenceMatcher(wanted, type);
  return {
    matches: (found) => found.flatMap(referencesOf).some(isWanted),
    spans: referenceSpans(wanted),
    proves: (bucket, sort) => provesReference(wanted, type, targets, { bucket, sort }),
  };
}

function byIdentifier(values: readonly string[]): Looked {
  const wanted = values.map(parseToken);
  const isWanted = tokenMatcher(wanted);
  return {
    matches: (found) => found.flatMap(identifiersOf).some(isWanted),
    spans: identifierSpans(wanted),
  };
}
