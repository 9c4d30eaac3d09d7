import { type ParameterKind, requireModifier } from './condition.ts';
import { bucketOf } from './key-range.ts';
import { dateKind, numberKind } from './ordered.ts';
import { referenceKind } from './reference.ts';
import { modifiers, type SearchParameter } from './registry.ts';
import { stringKind } from './text.ts';
import { tokenKind } from './token.ts';
import { remembered, textOf, unescapeValue, type Value } from './value.ts';

/** R4 uri search: exact; `:below` is anything that starts with it, `:above` anything it starts with. */
const uriKind: ParameterKind = {
  entries: (values) => values.flatMap(urisOf).map((uri) => ({ bucket: bucketOf(withoutVersion(uri)) })),
  condition(asked) {
    const modifier: 'below' | 'above' | undefined = requireModifier(modifiers.uri, asked);
    const searched = asked.values.map(unescapeValue);
    const [all, roots] = [new Set(searched), searched.map(rootOf)];
    const isFound = ({ uri, plain, root }: Uri) => {
      if (all.has(uri)) return true;
      if (modifier === 'below') return roots.some((one) => uri.startsWith(one));
      if (modifier === 'above') return searched.some((one) => one.startsWith(root));
      return all.has(plain);
    };
    const matches = (values: readonly Value[]) => urisIn(values).some(isFound);
    const alternatives = searched.length;
    if (modifier) return { matches, alternatives };
    // An item does not tell of versions.
    const proving = new Set(searched.filter((uri) => uri === withoutVersion(uri)).map(bucketOf));
    return {
      ...{ matches, alternatives },
      ranges: searched.map((uri) => ({ bucket: bucketOf(withoutVersion(uri)) })),
      proves: (bucket) => proving.has(bucket),
    };
  },
  sortTexts: (values) => urisIn(values).map(({ uri }) => uri),
};

function urisOf({ value }: Value): string[] {
  return [textOf(value) ?? []].flat();
}

/** `plain`: without its version; `root`: what everything below it begins with. */
type Uri = Record<'uri' | 'plain' | 'root', string>;

const urisIn = remembered((values: readonly Value[]): Uri[] =>
  values.flatMap(urisOf).map((uri) => ({ uri, plain: withoutVersion(uri), root: rootOf(uri) })),
);

function rootOf(uri: string): string {
  return uri.endsWith('/') ? uri : `${uri}/`;
}

/** A canonical without its `|version`. */
function withoutVersion(uri: string): string {
  return uri.replace(/\|[^|/]*$/, '');
}

/** Looks at what its parts look at, inside of one element: `filter.ts` makes its conditions of theirs. */
const compositeKind: ParameterKind = {
  entries: () => [],
  condition({ name }) {
    throw new Error(`${name} is asked by its parts`);
  },
  sortTexts: () => [],
};

export const kinds: Readonly<Record<SearchParameter['type'], ParameterKind>> = {
  token: tokenKind,
  string: stringKind,
  reference: referenceKind,
  uri: uriKind,
  date: dateKind,
  number: numberKind,
  quantity: numberKind,
  composite: compositeKind,
};
