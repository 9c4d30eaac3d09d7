import { Refusal } from '../../base/refusal.ts';
import { parseReference, type Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import type { Actor } from '../../identity/gate/actor.ts';
import {
  mayInteract,
  requireSearchableBy,
  searchRules,
  seesAll,
  visible,
} from '../../identity/policies/access.ts';
import type { Rule } from '../../identity/policies/rule.ts';
import { targetsOf } from '../../store/fhir/structures.ts';
import { compartmentRanges, isInPatientIndex } from '../../store/index/key-range.ts';
import { referencesOf } from '../../store/index/reference.ts';
import { isResourceType, parametersOf } from '../../store/index/registry.ts';
import { escapeValue, valuesOf } from '../../store/index/value.ts';
import { openState } from '../../store/items/content.ts';
import { batch, readHeads } from '../../store/items/versions.ts';
import { createFilter } from '../../store/search/filter.ts';
import { findHits, sourcesOf } from '../../store/search/find-hits.ts';
import { newSearch, type Reader, type Source } from '../../store/search/hit.ts';
import { criteriaFilters, type Include, type SearchRequest } from '../../store/search/search-request.ts';

const mostIncluded = 1000;
const mostCharacters = 4_500_000;
const mostRounds = 5;

/** Resources by `Type/id`, each once, within what an answer can hold. */
export class Gathered {
  readonly resources = new Map<string, Resource>();
  #characters: number;

  /** @param characters what the answer holds already */
  constructor(characters: number) {
    this.#characters = characters;
  }

  /** @throws {Refusal} too-costly */
  add(resource: Resource, characters: number): void {
    const name = nameOf(resource);
    if (this.resources.has(name)) return;
    this.#characters += characters;
    if (this.resources.size >= mostIncluded || this.#characters > mostCharacters) {
      throw new Refusal('too-costly', 'More would be included than an answer holds: ask for a lower _count');
    }
    this.resources.set(name, resource);
  }
}

/**
 * What `_include` and `_revinclude` bring with the hits of a page, as far as the caller may see it.
 * @throws {Refusal} too-costly
 */
export async function gatherIncluded(
  reader: Reader,
  hits: readonly Resource[],
  includes: readonly Include[],
  characters: number,
): Promise<Resource[]> {
  const gathered = new Gathered(characters);
  const known = new Set(hits.map(nameOf));
  let from = hits;
  for (let round = 0; round < mostRounds && from.length > 0; round++) {
    const active = includes.filter(({ iterates }) => iterates || round === 0);
    const before = new Set(gathered.resources.keys());
    for (const include of active) await follow(reader, from, include, known, gathered);
    from = [...gathered.resources].filter(([name]) => !before.has(name)).map(([, resource]) => resource);
  }
  return [...gathered.resources.values()];
}

async function follow(
  reader: Reader,
  from: readonly Resource[],
  { kind, type, parameter, target }: Include,
  known: ReadonlySet<string>,
  gathered: Gathered,
): Promise<void> {
  if (kind === 'include') {
    const references = from
      .filter(({ resourceType }) => resourceType === type)
      .flatMap((resource) => valuesOf(resource, parameter).flatMap(referencesOf))
      .filter((reference) => target === undefined || reference.startsWith(`${target}/`));
    await readReferenced(reader, references, known, gathered);
    return readCanonicals(reader, from, { type, parameter, target }, known, gathered);
  }
  if (reader.maySearch?.(type) === false) return;
  const pointed = from.filter(({ resourceType }) => target === undefined || resourceType === target);
  for (let at = 0; at < pointed.length; at += batch) {
    const filters = [createFilter(parameter, undefined, pointed.slice(at, at + batch).flatMap(namesOf))];
    for await (const { resource, characters } of findHits(newSearch(reader, type, filters))) {
      if (!known.has(nameOf(resource))) gathered.add(resource, characters);
    }
  }
}

/** What literal references of ours lead to; what is not there, or not to be seen, is left out. */
export async function readReferenced(
  reader: Reader,
  references: readonly string[],
  known: ReadonlySet<string>,
  gathered: Gathered,
): Promise<void> {
  const wanted = new Map<string, Set<string>>();
  for (const reference of references) {
    const target = parseReference(reference);
    if (!target || known.has(reference) || !isResourceType(target.type) || target.type === 'User') continue;
    if (reader.maySearch?.(target.type) === false) continue;
    wanted.set(target.type, (wanted.get(target.type) ?? new Set()).add(target.id));
  }
  for (const [type, ids] of wanted) {
    for (const head of (await readHeads(reader, type, [...ids])).values()) {
      const opened = await openState(reader.table, head);
      const seen = opened && (await reader.see(opened.resource, []));
      if (seen) gathered.add(seen, opened.characters);
    }
  }
}

/** By which references lead to a resource: its id, and the URL of what has one. */
function namesOf(resource: Resource): string[] {
  const { url } = resource;
  return typeof url === 'string' && url !== '' ? [nameOf(resource), escapeValue(url)] : [nameOf(resource)];
}

/** What canonical references of ours lead to, by its `url`; of several versions the one that is named. */
async function readCanonicals(
  reader: Reader,
  from: readonly Resource[],
  { type, parameter, target }: Pick<Include, 'type' | 'parameter' | 'target'>,
  known: ReadonlySet<string>,
  gathered: Gathered,
): Promise<void> {
  const paths = parameter.paths.filter((path) => path.type === 'canonical' || path.type === 'uri');
  if (paths.length === 0) return;
  const canonicals = new Set(
    from
      .filter(({ resourceType }) => resourceType === type)
      .flatMap((resource) => valuesOf(resource, parameter))
      .flatMap(({ value }) => (typeof value === 'string' ? [value] : [])),
  );
  const targets = await Promise.all(
    paths.map(({ steps }) =>
      targetsOf(
        type,
        steps.map(({ element }) => element),
      ),
    ),
  );
  const types = target === undefined ? new Set(targets.flatMap((some) => some ?? [])) : new Set([target]);
  for (const one of types) {
    const url = parametersOf(one).get('url');
    if (!url || !isResourceType(one) || reader.maySearch?.(one) === false) continue;
    const urls = [...new Set([...canonicals].map((text) => text.split('|')[0] ?? ''))];
    for (let at = 0; at < urls.length; at += batch) {
      const filters = [createFilter(url, undefined, urls.slice(at, at + batch).map(escapeValue))];
      for await (const { resource, characters } of findHits(newSearch(reader, one, filters))) {
        const isNamed = [String(resource.url), `${resource.url}|${resource.version}`].some((name) =>
          canonicals.has(name),
        );
        if (isNamed && !known.has(nameOf(resource))) gathered.add(resource, characters);
      }
    }
  }
}

function nameOf({ resourceType, id }: Resource): string {
  return `${resourceType}/${id}`;
}

/** The actor's eyes for a search: what no rule allows is not there, by whatever way it is looked for. */
export function readerOf({ table }: Pick<Services, 'table'>, actor: Actor): Reader {
  return {
    table,
    project: actor.project,
    see: (resource, searched) => visible(actor, 'search', resource, { searched }),
    maySearch: (type) => type !== 'User' && mayInteract(actor, 'search', type),
    seesAll: (type) => seesAll(actor, 'search', type),
    narrow: (type) => narrow(searchRules(actor, type), type),
  };
}

/** @throws {Refusal} forbidden, when the actor may not search the type, or by what it hides from them */
export function requireSearchable(actor: Actor, { type, filters, sort, links }: SearchRequest): void {
  const by = filters.flatMap(({ parameters }) => parameters);
  requireSearchableBy(actor, type, [...by, ...sort.map(({ parameter }) => parameter)]);
  requireLinksSearchable(actor, links);
}

function requireLinksSearchable(actor: Actor, links: SearchRequest['links']): void {
  for (const link of links) {
    const by = link.filters.flatMap(({ parameters }) => parameters);
    // The reference that leads on is looked at too.
    const onwards = link.links.flatMap(({ kind, parameter }) => (kind === 'chain' ? [parameter] : []));
    requireSearchableBy(actor, link.type, [...by, ...onwards]);
    requireLinksSearchable(actor, link.links);
  }
}

/**
 * Where all is that the rules allow: a patient's own search must not look through everybody's.
 * @returns undefined when a rule allows what no index leads to
 */
function narrow(rules: 'all' | readonly Rule[], type: string): Source | undefined {
  if (rules === 'all') return undefined;
  const sources = rules.map((rule) => sourceOf(rule, type));
  if (!sources.every((source) => source !== undefined)) return undefined;
  return {
    name: 'rules',
    keyRanges: sources.flatMap(({ keyRanges }) => keyRanges),
    rank: Math.max(0, ...sources.map(({ rank }) => rank)),
  };
}

/** A rule that can match nothing is nowhere; one without an index is anywhere. */
function sourceOf(
  { compartment, criteria }: Rule,
  type: string,
): Pick<Source, 'keyRanges' | 'rank'> | undefined {
  if (compartment !== undefined && isInPatientIndex(type)) {
    return { keyRanges: compartmentRanges(compartment, type), rank: 3 };
  }
  if (criteria === undefined) return undefined;
  const filters = criteriaFilters(criteria, type);
  return filters.length > 0 ? sourcesOf(filters)[0] : { keyRanges: [], rank: 0 };
}
