import type { FunctionName } from '../../functions/routes.ts';

interface Throttle {
  /** Requests a second, on average. */
  rate: number;
  /** Requests at once. */
  burst: number;
}

/** Of the whole stage, and of every route that has no bound of its own. */
export const stageThrottle: Throttle = { rate: 1000, burst: 1000 };

/** Of each route of a function, below the stage's: one kind of request leaves room for the others. */
export const routeThrottles: Readonly<Partial<Record<FunctionName, Throttle>>> = {
  'execute-by-id': { rate: 500, burst: 500 },
  'execute-by-identifier': { rate: 500, burst: 500 },
  token: { rate: 300, burst: 300 },
  // Each attempt costs a password's hash.
  login: { rate: 200, burst: 200 },
  invite: { rate: 50, burst: 100 },
  bots: { rate: 50, burst: 100 },
};
