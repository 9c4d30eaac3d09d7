import type { Resource } from '../fhir/resource.ts';
import { splitValue } from '../index/escape.ts';
import { type Parameter, parametersOf } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';
import { withoutKeys } from '../typed-keys.ts';
import type { Filter } from './filter.ts';

const mostAlternatives = 50;

/** One alternative of a value: a condition for each part. */
type Parts = readonly Filter[];

/**
 * R4 composite search, `code-value-quantity=8480-6$gt150`: all parts hold inside of one element. Its parts are
 * parameters of their own, asked of the resource as if it had that element alone.
 * @param parse one part as a condition
 * @throws {Refusal} invalid
 */
export function compositeFilter(
  type: string,
  { code, composite }: Parameter,
  value: string,
  parse: (name: string, value: string) => readonly Filter[],
): Filter {
  const { elements = [], parts = [] } = composite ?? {};
  const alternatives = splitValue(value, ',').map((one): Parts => {
    const values = splitValue(one, '$');
    if (values.length !== parts.length || values.includes('')) {
      throw invalidField(code, `${code} is ${parts.join('$')}`);
    }
    return parts.flatMap((part, i) => parse(part, values[i] ?? ''));
  });
  if (alternatives.length > mostAlternatives) {
    throw invalidField(code, `${code} has more than ${mostAlternatives} values`);
  }
  const best = alternatives.map(
    (filters) => filters.filter(({ stretches }) => stretches).sort((a, b) => a.rank - b.rank)[0],
  );
  return {
    name: `${code}:=${value}`,
    parameters: parts.flatMap((part) => parametersOf(type).get(part) ?? []),
    matches: (resource) =>
      elements.some((element) =>
        piecesOf(resource, element, elements).some((piece) =>
          alternatives.some((filters) => filters.every((filter) => filter.matches(piece))),
        ),
      ),
    stretches: best.every((filter) => filter !== undefined)
      ? best.flatMap((filter) => filter?.stretches ?? [])
      : undefined,
    rank: Math.max(...best.map((filter) => filter?.rank ?? 9)),
    alternatives: elements.length * alternatives.flat().reduce((sum, one) => sum + one.alternatives, 0),
  };
}

/**
 * The resource with one entry of an element alone, or beside the rest of it; as itself without those of the other
 * elements.
 */
function piecesOf(resource: Resource, element: string, all: readonly string[]): Resource[] {
  if (element === '.') {
    return [withoutKeys(resource, (name) => all.includes(name))];
  }
  if (element.startsWith('+')) {
    const name = element.slice(1);
    return [resource[name] ?? []].flat().map((one) => ({ ...resource, [name]: [one] }));
  }
  const { resourceType, id, meta } = resource;
  return [resource[element] ?? []].flat().map((one) => ({ resourceType, id, meta, [element]: [one] }));
}
