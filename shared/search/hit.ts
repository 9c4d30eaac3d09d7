import type { Resource } from '../fhir/resource.ts';
import type { Parameter } from '../index/registry.ts';
import { openState } from '../store/content.ts';
import type { Item } from '../table/item.ts';
import { type Filter, matchesAll } from './filter.ts';
import type { MostOpened } from './most-opened.ts';
import type { Position } from './position.ts';
import type { Reader } from './reader.ts';
import type { SortKey } from './sort.ts';

/** A search of one type whose conditions are all at hand. */
export interface Search {
  reader: Reader;
  type: string;
  filters: readonly Filter[];
  sort: readonly SortKey[];
  /** How many hits are wanted at first. */
  count: number;
  budget: MostOpened;
}

export interface Hit {
  /** As the caller may see it. */
  resource: Resource;
  /** Of its JSON text. */
  characters: number;
  /** Where the next page goes on after it. */
  position: Position;
}

/** A value that a search looks at takes some so many characters of a resource. */
const charactersPerValue = 200;

/** The resource as the caller may see it, when what the caller sees of it matches. */
export async function openHit(
  search: Search,
  head: Item,
  isWanted: (resource: Resource) => boolean = () => true,
): Promise<Omit<Hit, 'position'> | undefined> {
  const { reader, filters } = search;
  const opened = await openState(reader, head);
  if (!opened) return undefined;
  const { resource, characters } = opened;
  const alternatives = filters.reduce((sum, filter) => sum + filter.alternatives, 0);
  reader.table.budget.spend('comparisons', alternatives * (1 + characters / charactersPerValue));
  if (!isWanted(resource) || !matchesAll(resource, filters)) return undefined;
  const seen = await reader.see(resource, searched(search));
  if (!seen || (seen !== resource && !matchesAll(seen, filters))) return undefined;
  return { resource: seen, characters };
}

function searched({ filters, sort }: Search): Parameter[] {
  return [...filters.flatMap(({ parameters }) => parameters), ...sort.map(({ parameter }) => parameter)];
}
