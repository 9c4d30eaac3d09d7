import type { ParameterKind } from './condition.ts';
import { dateKind, numberKind } from './ordered.ts';
import { referenceKind } from './reference.ts';
import type { Parameter } from './registry.ts';
import { stringKind } from './text.ts';
import { tokenKind } from './token.ts';
import { uriKind } from './uri.ts';

/** Looks at what its parts look at, inside of one element: `filter.ts` makes its conditions of theirs. */
const compositeKind: ParameterKind = {
  entries: () => [],
  condition({ name }) {
    throw new Error(`${name} is asked by its parts`);
  },
  sortTexts: () => [],
};

export const kinds: Readonly<Record<Parameter['type'], ParameterKind>> = {
  token: tokenKind,
  string: stringKind,
  reference: referenceKind,
  uri: uriKind,
  date: dateKind,
  number: numberKind,
  quantity: numberKind,
  composite: compositeKind,
};
