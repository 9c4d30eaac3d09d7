import { mayInteract, searchesAll, searchRules } from '../../../shared/access/access.ts';
import type { Actor } from '../../../shared/access/actor.ts';
import type { Rule } from '../../../shared/access/rule.ts';
import { requireSearchableBy, visible } from '../../../shared/access/visible.ts';
import { compartmentStretches, isInPatientIndex } from '../../../shared/index/patient-index.ts';
import { criteriaFilters } from '../../../shared/search/criteria.ts';
import { type Source, sourcesOf } from '../../../shared/search/plan.ts';
import type { Reader } from '../../../shared/search/reader.ts';
import type { SearchRequest } from '../../../shared/search/search-request.ts';
import type { Services } from '../../../shared/services.ts';

/** The actor's eyes for a search: what no rule allows is not there, by whatever way it is looked for. */
export function readerOf({ table }: Pick<Services, 'table'>, actor: Actor): Reader {
  return {
    table,
    project: actor.project,
    see: (resource, searched) => visible(actor, 'search', resource, { searched }),
    maySearch: (type) => type !== 'User' && mayInteract(actor, 'search', type),
    seesAll: (type) => searchesAll(actor, type),
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
    stretches: sources.flatMap(({ stretches }) => stretches),
    rank: Math.max(0, ...sources.map(({ rank }) => rank)),
  };
}

/** A rule that can match nothing is nowhere; one without an index is anywhere. */
function sourceOf(
  { compartment, criteria }: Rule,
  type: string,
): Pick<Source, 'stretches' | 'rank'> | undefined {
  if (compartment !== undefined && isInPatientIndex(type)) {
    return { stretches: compartmentStretches(compartment, type), rank: 3 };
  }
  if (criteria === undefined) return undefined;
  const filters = criteriaFilters(criteria, type);
  return filters.length > 0 ? sourcesOf(filters)[0] : { stretches: [], rank: 0 };
}
