import { parametersOf } from '../index/registry.ts';
import { Refusal } from '../refusal.ts';
import type { Filter } from './filter.ts';

/** Resources that one page may read before the search is refused as too costly. */
const mostReads = 2000;

/** Resources that a search may still open; beside the budget of its request. */
export interface MostOpened {
  /** @throws {Refusal} too-costly, saying which parameter to add */
  spend(reads: number): void;
}

export function mostOpened(type: string, filters: readonly Filter[], reads: number = mostReads): MostOpened {
  let left = reads;
  return {
    spend(some) {
      left -= some;
      if (left < 0) throw tooCostly(type, filters, `would read more than ${reads} resources of ${type}`);
    },
  };
}

/** @param why `… would read too much`, after "The search" */
export function tooCostly(type: string, filters: readonly Filter[], why: string): Refusal {
  const helpful = suggestions(type, filters);
  const advice = helpful.length > 0 ? `add ${helpful.join(' or ')}` : 'add a parameter that fewer match';
  return new Refusal('too-costly', `The search ${why}: ${advice}`);
}

/** Parameters that usually leave few, best first. */
const selective = [
  'identifier',
  'patient',
  'subject',
  'entity',
  'name',
  'birthdate',
  'code',
  'date',
  '_lastUpdated',
];

function suggestions(type: string, filters: readonly Filter[]): string[] {
  const given = new Set(filters.flatMap(({ parameters }) => parameters.map(({ code }) => code)));
  const known = parametersOf(type);
  return selective.filter((code) => known.get(code)?.index !== undefined && !given.has(code)).slice(0, 3);
}
