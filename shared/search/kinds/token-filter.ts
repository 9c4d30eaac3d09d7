import { unescapeValue } from '../../index/escape.ts';
import type { Parameter } from '../../index/registry.ts';
import { normaliseText } from '../../index/text.ts';
import { parseToken, provesToken, tokenMatcher, tokenSpans, tokensOf } from '../../index/token.ts';
import { InvalidFilter, type Looked, requireModifier } from './wanted.ts';

/** R4 token search: `system|code`, `|code`, `system|`, `code`, with `:not` and `:text`. */
export function tokenFilter(
  parameter: Parameter,
  modifier: string | undefined,
  values: readonly string[],
): Looked {
  const how = requireModifier('token', parameter, modifier);
  switch (how) {
    case 'text':
      return textFilter(values);
    case 'not':
      return { matches: not(codeFilter(parameter, values).matches), spans: undefined };
    case undefined:
      return codeFilter(parameter, values);
  }
}

const not =
  (matches: Looked['matches']): Looked['matches'] =>
  (found) =>
    !matches(found);

function codeFilter(parameter: Parameter, values: readonly string[]): Looked {
  const wanted = values.map(parseToken);
  if (wanted.some(({ system, value }) => value === undefined && !system)) {
    throw new InvalidFilter(`${parameter.code} has no value`);
  }
  const isWanted = tokenMatcher(wanted);
  const ids = wanted.flatMap(({ value }) => value ?? []);
  return {
    matches: (found) => found.flatMap(tokensOf).some(isWanted),
    spans:
      parameter.code === '_id'
        ? [...new Set(ids)].map((bucket) => ({ bucket }))
        : tokenSpans(wanted, parameter.paths[0]?.type),
    proves: (bucket, sort) =>
      provesToken(
        wanted,
        parameter.paths.map(({ type }) => type),
        { bucket, sort },
      ),
  };
}

/** R4 `:text`: the text or display of the code begins so. */
function textFilter(values: readonly string[]): Looked {
  const texts = values.map((text) => normaliseText(unescapeValue(text)));
  return {
    matches: (found) =>
      found.flatMap(tokensOf).some(({ text }) => {
        const normal = text === undefined ? undefined : normaliseText(text);
        return normal !== undefined && texts.some((wanted) => normal.startsWith(wanted));
      }),
    spans: undefined,
    alternatives: texts.length,
  };
}
