import { mayInteract, searchRules } from '../../shared/auth/access.ts';
import type { Actor } from '../../shared/auth/actor.ts';
import { hasHole } from '../../shared/auth/criteria.ts';
import type { Rule } from '../../shared/auth/policy.ts';
import { visible } from '../../shared/auth/visible.ts';
import { Refusal } from '../../shared/refusal.ts';
import { compartmentStretch, isInPatientIndex } from '../../shared/search/patient-index.ts';
import { type Source, sourcesOf } from '../../shared/search/plan.ts';
import type { Reader } from '../../shared/search/reader.ts';
import { parseCriteria } from '../../shared/search/search-request.ts';
import type { Services } from '../../shared/services.ts';

/** The actor's eyes for a search: what no rule allows is not there, by whatever way it is looked for. */
export function readerOf({ table }: Pick<Services, 'table'>, actor: Actor): Reader {
  return {
    table,
    project: actor.project,
    see: async (resource) => ((await visible(actor, 'search', resource)) ? resource : undefined),
    maySearch: (type) => type !== 'User' && mayInteract(actor, 'search', type),
    narrow: (type) => narrow(searchRules(actor, type), type),
  };
}

/**
 * Where all is that the rules allow: a patient's own search must not look through everybody's.
 * @returns undefined when a rule allows what no index leads to
 */
function narrow(rules: 'all' | readonly Rule[], type: string): Source | undefined {
  if (rules === 'all') return undefined;
  const sources = rules.map((rule) => sourceOf(rule, type));
  if (sources.includes(undefined)) return undefined;
  const known = sources as Pick<Source, 'stretches' | 'rank'>[];
  return {
    name: 'rules',
    stretches: known.flatMap(({ stretches }) => stretches),
    rank: Math.max(0, ...known.map(({ rank }) => rank)),
  };
}

/** A rule that can match nothing is nowhere; one without an index is anywhere. */
function sourceOf(
  { compartment, criteria }: Rule,
  type: string,
): Pick<Source, 'stretches' | 'rank'> | undefined {
  if (compartment !== undefined && isInPatientIndex(type)) {
    return { stretches: [compartmentStretch(compartment, type)], rank: 3 };
  }
  if (criteria === undefined) return undefined;
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  if (of !== type || hasHole(criteria)) return { stretches: [], rank: 0 };
  try {
    return sourcesOf(parseCriteria(type, query))[0];
  } catch (error) {
    if (error instanceof Refusal) return { stretches: [], rank: 0 };
    throw error;
  }
}
