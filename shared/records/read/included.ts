import { inChunks } from '../../base/in-parallel.ts';
import { Refusal } from '../../base/refusal.ts';
import { isAdministrative, parseReference, type Resource, referenceOf } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Actor } from '../../identity/gate/actor.ts';
import {
  hiddenByPolicies,
  judgeOf,
  mayInteract,
  mayLookAtHidden,
  readRules,
  requireSearchableBy,
  searchRules,
  seesAll,
  tableToJudge,
  visible,
} from '../../identity/policies/access.ts';
import type { Interaction, Rule } from '../../identity/policies/parse-policy.ts';
import { looksAt } from '../../identity/policies/rules.ts';
import { targetsOf } from '../../store/fhir/structures.ts';
import { compartmentRanges, type KeyRange } from '../../store/index/key-range.ts';
import { referencesOf } from '../../store/index/reference.ts';
import { isResourceType, parametersOf, type SearchParameter } from '../../store/index/registry.ts';
import { escapeValue, remembered, valuesOf } from '../../store/index/value.ts';
import { batch, headsInTurn } from '../../store/items/versions.ts';
import { createFilter } from '../../store/search/filter.ts';
import { findHits, sourcesOf } from '../../store/search/find-hits.ts';
import { newSearch, openHit, type SearchReader, type SearchSource } from '../../store/search/hit.ts';
import { criteriaFilters, type Include, type SearchRequest } from '../../store/search/search-request.ts';

const mostIncluded = 1000;
const mostBytes = 4_500_000;
const mostRounds = 5;

/** Resources that come with the hits of a page, each once, within what an answer can hold. */
export class Included {
  readonly #hits: ReadonlySet<string>;
  readonly #resources = new Map<string, Resource>();
  #bytes: number;

  /** @param bytes of the hits, as JSON texts */
  constructor(hits: readonly Resource[], bytes: number) {
    this.#hits = new Set(hits.map(referenceOf));
    this.#bytes = bytes;
  }

  get resources(): Resource[] {
    return [...this.#resources.values()];
  }

  isHit(name: string): boolean {
    return this.#hits.has(name);
  }

  add(resource: Resource, bytes: number): void {
    const name = referenceOf(resource);
    if (this.#hits.has(name) || this.#resources.has(name)) return;
    this.#bytes += bytes;
    if (this.#resources.size >= mostIncluded || this.#bytes > mostBytes) {
      throw new Refusal('too-costly', 'More would be included than an answer holds: ask for a lower _count');
    }
    this.#resources.set(name, resource);
  }
}

/**
 * What `_include` and `_revinclude` bring with the hits of a page, as far as the caller may see it.
 * @throws {Refusal} too-costly
 */
export async function gatherIncluded(
  reader: SearchReader,
  hits: readonly Resource[],
  includes: readonly Include[],
  bytes: number,
): Promise<Resource[]> {
  const included = new Included(hits, bytes);
  let from = hits;
  for (let round = 0; round < mostRounds && from.length > 0; round++) {
    const active = includes.filter(({ iterates }) => iterates || round === 0);
    const before = included.resources.length;
    for (const include of active) await follow(reader, from, include, included);
    from = included.resources.slice(before);
  }
  return included.resources;
}

async function follow(
  reader: SearchReader,
  from: readonly Resource[],
  include: Include,
  included: Included,
): Promise<void> {
  const { kind, type, parameter, target } = include;
  if (kind === 'include') {
    const references = from
      .filter(({ resourceType }) => resourceType === type)
      .flatMap((resource) => valuesOf(resource, parameter).flatMap(referencesOf))
      .filter((reference) => target === undefined || reference.startsWith(`${target}/`));
    await readReferenced(reader, references, included);
    return readCanonicals(reader, from, include, included);
  }
  const pointed = from.filter(({ resourceType }) => target === undefined || resourceType === target);
  await addFound(reader, type, parameter, pointed.map(namesOf), included);
}

/**
 * Adds what a parameter finds by any of the values.
 * @param values lists of them: so many lists are one search
 */
async function addFound(
  reader: SearchReader,
  type: string,
  parameter: SearchParameter,
  values: readonly string[][],
  included: Included,
  isWanted: (resource: Resource) => boolean = () => true,
): Promise<void> {
  if (reader.maySearch?.(type) === false) return;
  for (const some of inChunks(values, batch)) {
    const filters = [createFilter(parameter, undefined, some.flat())];
    for await (const { resource, bytes } of findHits(newSearch(reader, type, filters))) {
      if (isWanted(resource)) included.add(resource, bytes);
    }
  }
}

/** What literal references of ours lead to; what is not there, or not to be seen, is left out. */
export async function readReferenced(
  reader: SearchReader,
  references: readonly string[],
  included: Included,
): Promise<void> {
  const wanted = new Map<string, Set<string>>();
  for (const reference of references) {
    const target = parseReference(reference);
    if (!target || included.isHit(reference) || !isResourceType(target.type) || target.type === 'User')
      continue;
    if (reader.maySearch?.(target.type) === false) continue;
    wanted.set(target.type, (wanted.get(target.type) ?? new Set()).add(target.id));
  }
  for (const [type, ids] of wanted) {
    const search = newSearch(reader, type, [], { lookUps: 0 });
    if (search.isJudged) reader.table.budget.spend('items', ids.size);
    for await (const [, head] of headsInTurn(search, type, ids)) {
      const hit = await openHit(search, head);
      if (hit) included.add(hit.resource, hit.bytes);
    }
  }
}

/** By which references lead to a resource: its id, and the URL of what has one. */
function namesOf(resource: Resource): string[] {
  const { url } = resource;
  return typeof url === 'string' && url !== ''
    ? [referenceOf(resource), escapeValue(url)]
    : [referenceOf(resource)];
}

/** What canonical references of ours lead to, by its `url`; of several versions the one that is named. */
async function readCanonicals(
  reader: SearchReader,
  from: readonly Resource[],
  { type, parameter, target }: Include,
  included: Included,
): Promise<void> {
  const paths = parameter.paths.filter((path) => path.type === 'canonical' || path.type === 'uri');
  if (paths.length === 0) return;
  const canonicals = new Set(
    from
      .filter(({ resourceType }) => resourceType === type)
      .flatMap((resource) => valuesOf(resource, parameter))
      .flatMap(({ value }) => (typeof value === 'string' ? [value] : [])),
  );
  const targets = await Promise.all(paths.map(({ steps }) => targetsOf(type, steps)));
  const types = target === undefined ? new Set(targets.flatMap((some) => some ?? [])) : [target];
  const urls = new Set([...canonicals].map((text) => text.split('|')[0] ?? ''));
  const lists = [...urls].map((url) => [escapeValue(url)]);
  const isNamed = ({ url, version }: Resource) =>
    canonicals.has(String(url)) || canonicals.has(`${url}|${version}`);
  for (const one of types) {
    const url = parametersOf(one).get('url');
    if (url && isResourceType(one)) await addFound(reader, one, url, lists, included, isNamed);
  }
}

/**
 * Services for reading a page of what the actor may not see all of: they pay now for what they ask, and for nothing that is
 * come upon.
 * @throws {Refusal} too-costly
 */
export function judging(
  services: Services,
  actor: Actor,
  { interaction, types, queries, items }: Judged,
): Services {
  const table = tableToJudge(services.table, actor, interaction, types);
  if (table === services.table) return services;
  services.table.budget.spend('queries', queries);
  services.table.budget.spend('items', items);
  return { ...services, table };
}

interface Judged {
  interaction: Interaction;
  types: readonly string[];
  /** What the page asks for. */
  queries: number;
  items: number;
}

/** What it costs at most to ask a record's policies: a tenth of what a search is blurred by, however many rules there are. */
const mostPolicyUnits = 60;

/** The actor's eyes for a search: what no rule allows is not there, by whatever way it is looked for. */
export function readerOf({ table }: Pick<Services, 'table'>, actor: Actor): SearchReader {
  const untold = actor.budget.untold();
  const judge = judgeOf(actor, untold);
  const isHidden = hiddenFrom(actor);
  /** Of one search, its links and its includes: what the policies hide of a resource, undefined for all of it; so do scopes. */
  const known = new Map<string, readonly string[] | undefined>();
  const isShown = (hidden: readonly string[] | undefined, searched: readonly SearchParameter[]) =>
    hidden !== undefined && !searched.some((one) => looksAt(one, hidden));
  return {
    ...{ table, untold },
    project: actor.project,
    async see(resource, searched) {
      const seen = await visible(judge, 'search', resource, { searched });
      const { pk } = keys.resource(actor.project, resource.resourceType, resource.id);
      // What the policies show the scopes have closed.
      if (!seen && isShown(known.get(pk), searched)) known.set(pk, undefined);
      return seen;
    },
    prepare: (type) => readRules(actor, 'search', type),
    async maySee(pk, resource, searched) {
      if (!known.has(pk)) {
        const one = judgeOf(actor, untold.asOne(mostPolicyUnits));
        const isEnough = (hidden: readonly string[]) => !isShown(hidden, searched);
        known.set(pk, await hiddenByPolicies(one, 'search', resource, isEnough));
      }
      return isShown(known.get(pk), searched);
    },
    isKnownHidden: (pk, searched) => known.has(pk) && !isShown(known.get(pk), searched),
    maySearch: (type) => type !== 'User' && mayInteract(actor, 'search', type),
    seesAll: (type) => seesAll(actor, 'search', type),
    narrow: (type) => narrow(actor, type, isHidden),
    hasToldIndex: (type, by) => hasToldIndex(type, by, isHidden),
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

/** Whether a search of a type by a parameter may look at what is hidden from the actor. */
type IsHidden = (type: string, by: SearchParameter) => boolean;

/** Worked out once for each parameter: policies may have thousands of rules. */
function hiddenFrom(actor: Actor): IsHidden {
  const known = new Map<string, (by: SearchParameter) => boolean>();
  return (type, by) => {
    const ofType = known.get(type) ?? remembered((one) => mayLookAtHidden(actor, type, one));
    known.set(type, ofType);
    return ofType(by);
  };
}

/**
 * Whether the index of a parameter may order hits. One that names or addresses share has keys that say in which parts a word
 * stands: not where one of these is hidden.
 */
function hasToldIndex(type: string, { index, within }: SearchParameter, isHidden: IsHidden): boolean {
  const owners = within ? [...parametersOf(type).values()].filter((one) => one.index === index) : [];
  return !owners.some((one) => !one.within && isHidden(type, one));
}

/** Rules that lead to more places of the index are no way of a search: to ask for each costs more than to read the type. */
const mostRuleRanges = 2000;

/**
 * Where all is that the rules allow: a patient's own search must not look through everybody's.
 * @returns undefined when a rule allows what no index leads to, or the rules lead to too many places
 */
function narrow(actor: Actor, type: string, isHidden: IsHidden): SearchSource | undefined {
  const rules = searchRules(actor, type);
  if (rules === 'all') return undefined;
  const keyRanges: KeyRange[] = [];
  let rank = 0;
  for (const rule of rules) {
    const source = sourceOf(rule, type, isHidden);
    if (!source || keyRanges.length + source.keyRanges.length > mostRuleRanges) return undefined;
    keyRanges.push(...source.keyRanges);
    rank = Math.max(rank, source.rank);
  }
  return { name: 'rules', keyRanges, rank };
}

type RuleSource = Pick<SearchSource, 'keyRanges' | 'rank'>;

/**
 * A rule that can match nothing is nowhere; one without an index is anywhere. What is hidden from the actor leads to
 * nothing: the order of the hits, and the cursor, are those of what it holds.
 */
function sourceOf({ compartment, criteria }: Rule, type: string, isHidden: IsHidden): RuleSource | undefined {
  if (compartment !== undefined && !isAdministrative(type)) {
    return { keyRanges: compartmentRanges(compartment, type), rank: 3 };
  }
  if (criteria === undefined) return undefined;
  const filters = criteriaFilters(criteria, type);
  if (filters.length === 0) return { keyRanges: [], rank: 0 };
  const isTold = (by: SearchParameter) => !isHidden(type, by) && hasToldIndex(type, by, isHidden);
  const [best] = sourcesOf(filters.filter(({ parameters }) => parameters.every(isTold)));
  const isOfPatient = filters.some(({ references }) =>
    references?.every((one) => one.startsWith('Patient/')),
  );
  // A rule usually allows many resources, but for those of one patient: a value that the caller asks for leads to fewer.
  return best && best.rank > 1 && !isOfPatient ? { ...best, rank: Math.max(best.rank, 6) } : best;
}
