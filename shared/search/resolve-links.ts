import { parseReference } from '../fhir/resource.ts';
import { targetsOf } from '../fhir/structures.ts';
import { referencesOf } from '../index/reference.ts';
import { parametersOf } from '../index/registry.ts';
import { valuesOf } from '../index/value.ts';
import { invalidField, Refusal } from '../refusal.ts';
import { batch } from '../store/heads.ts';
import { createFilter, type Filter } from './filter.ts';
import { findHits } from './find-hits.ts';
import type { Link } from './link.ts';
import { mostOpened } from './most-opened.ts';
import type { Reader } from './reader.ts';

/** So many resources may stand at the other end of a chain: each is a look-up of its own. */
const mostLinked = 200;

/**
 * Conditions on other resources as conditions on the searched ones: the others are searched first, with
 * on the same caller's behalf.
 * @param searched the type of the search
 * @throws {Refusal} forbidden, too-costly
 */
export async function resolveLinks(
  reader: Reader,
  searched: string,
  links: readonly Link[],
): Promise<Filter[]> {
  return Promise.all(links.map((link) => resolve(reader, searched, link)));
}

async function resolve(reader: Reader, searched: string, link: Link): Promise<Filter> {
  const { name, kind, type, parameter } = link;
  if (reader.maySearch?.(type) === false) throw new Refusal('forbidden', 'Forbidden');
  if (kind === 'reverse') await requireTarget(searched, link);
  const filters = [...link.filters, ...(await resolveLinks(reader, type, link.links))];
  const found = new Set<string>();
  const budget = mostOpened(type, filters);
  const search = { reader, type, filters, sort: [], count: batch, budget };
  for await (const { resource } of findHits(search, undefined)) {
    if (kind === 'chain') found.add(`${type}/${resource.id}`);
    else for (const id of referred(searched, resource, parameter)) found.add(id);
    if (found.size > mostLinked) {
      throw new Refusal('too-costly', `${name} matches more than ${mostLinked} resources: ask for fewer`);
    }
  }
  const id = parametersOf(searched).get('_id');
  const by = kind === 'chain' || !id ? parameter : id;
  const filter = found.size > 0 ? createFilter(by, undefined, [...found].sort()) : nothing;
  return {
    ...filter,
    parameters: [...(kind === 'chain' ? [parameter] : [])],
    name: `${name}=${filters.map((one) => one.name).join()}`,
  };
}

/** @throws {Refusal} invalid for a reference that never leads to the searched type: it would find nothing */
async function requireTarget(searched: string, { name, type, parameter }: Link): Promise<void> {
  for (const { steps, target } of parameter.paths) {
    if (target === searched) return;
    const targets = await targetsOf(
      type,
      steps.map(({ element }) => element),
    );
    if (target === undefined && (targets === undefined || targets.includes(searched))) return;
  }
  throw invalidField(name, `${parameter.code} of ${type} does not refer to a ${searched}`);
}

/** The ids of resources of the searched type that a resource refers to. */
function referred(
  searched: string,
  resource: Parameters<typeof valuesOf>[0],
  by: Link['parameter'],
): string[] {
  return valuesOf(resource, by)
    .flatMap(referencesOf)
    .flatMap((reference) => {
      const target = parseReference(reference);
      return target?.type === searched ? [target.id] : [];
    });
}

const nothing: Filter = {
  name: '',
  parameters: [],
  matches: () => false,
  stretches: [],
  rank: 0,
  alternatives: 0,
};
