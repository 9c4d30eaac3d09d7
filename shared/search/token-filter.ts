import { unescapeValue } from './escape.ts';
import type { Parameter } from './registry.ts';
import { normaliseText } from './text.ts';
import { matchesToken, parseToken, tokenSpans, tokensOf } from './token.ts';
import { InvalidFilter, type Looked } from './wanted.ts';

/** R4 token search: `system|code`, `|code`, `system|`, `code`, with `:not` and `:text`. */
export function tokenFilter(
  parameter: Parameter,
  modifier: string | undefined,
  values: readonly string[],
): Looked {
  if (modifier === 'text') return textFilter(values);
  if (modifier !== undefined && modifier !== 'not') {
    throw new InvalidFilter(`The modifier :${modifier} is not supported for ${parameter.code}`);
  }
  const wanted = values.map(parseToken);
  if (wanted.some(({ system, value }) => value === undefined && !system)) {
    throw new InvalidFilter(`${parameter.code} has no value`);
  }
  const matches: Looked['matches'] = (found) =>
    found.flatMap(tokensOf).some((token) => wanted.some((one) => matchesToken(token, one)));
  if (modifier === 'not') return { matches: (found) => !matches(found), spans: undefined };
  const ids = wanted.flatMap(({ value }) => value ?? []);
  return {
    matches,
    spans: parameter.code === '_id' ? [...new Set(ids)].map((bucket) => ({ bucket })) : tokenSpans(wanted),
  };
}

/** R4 `:text`: the text or display of the code begins so. */
function textFilter(values: readonly string[]): Looked {
  const texts = values.map((text) => normaliseText(unescapeValue(text)));
  return {
    matches: (found) =>
      found
        .flatMap(tokensOf)
        .some(({ text }) => text && texts.some((wanted) => normaliseText(text).startsWith(wanted))),
    spans: undefined,
  };
}
