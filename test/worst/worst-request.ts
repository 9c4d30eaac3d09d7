import type { routes } from '../../functions/routes.ts';

/** Whose token a request bears; `nobody` may see nothing of what is there, `hiding` has fields hidden, `ruled` administers under as many long rules as it may have. */
export type Bearer = 'administrator' | 'nobody' | 'hiding' | 'ruled';

/** A request that makes a route work as hard as it can with 4 MiB. */
export interface WorstRequest {
  what: string;
  /** Values of the path's parameters. */
  params?: Record<string, string>;
  /** As it stands in the URL. */
  query?: string;
  body?: string;
  /** How many changes a batch holds. */
  changes?: number;
  headers?: Record<string, string>;
  as?: Bearer;
}

type MadeWith<World> = (world: World) => WorstRequest[];

/** A route without worst requests does not compile. */
export type WorstRequests<World> = {
  [Name in keyof typeof routes]: { [Route in keyof (typeof routes)[Name]]: MadeWith<World> };
};
