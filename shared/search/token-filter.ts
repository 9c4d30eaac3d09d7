import { unescapeValue } from '../index/escape.ts';
import type { Parameter } from '../index/registry.ts';
import { normaliseText } from '../index/text.ts';
import { parseToken, tokenMatcher, tokenSpans, tokensOf } from '../index/token.ts';
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
  const isWanted = tokenMatcher(wanted);
  const matches: Looked['matches'] = (found) => found.flatMap(tokensOf).some(isWanted);
  if (modifier === 'not') return { matches: (found) => !matches(found), spans: undefined };
  const ids = wanted.flatMap(({ value }) => value ?? []);
  return {
    matches,
    spans:
      parameter.code === '_id'
        ? [...new Set(ids)].map((bucket) => ({ bucket }))
        : tokenSpans(wanted, parameter.paths[0]?.type),
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
