import type { Resource } from '../fhir/resource.ts';
import type { Parameter } from '../index/registry.ts';
import type { Table } from '../table/table.ts';
import type { Source } from './plan.ts';

/** On whose behalf a search reads. */
export interface Reader {
  table: Table;
  project: string;
  /**
   * The resource as the caller may see it; undefined when not at all.
   * @param searched what a search looks at in it: what is hidden there must not be found out
   */
  see(resource: Resource, searched: readonly Parameter[]): Promise<Resource | undefined>;
  /** Whether the caller may see everything of the type: then what the index holds is what there is to see. */
  seesAll?(type: string): boolean;
  /** Whether the caller may search the type at all; everybody may when left out. */
  maySearch?(type: string): boolean;
  /** Where everything is that the caller may see of the type, when the caller's rules tell. */
  narrow?(type: string): Source | undefined;
}
