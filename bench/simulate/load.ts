/** What is simulated: executes that are waited for, on one stage. */
export interface Load {
  /** Of which each has Bots that run. */
  projects: number;
  /** Of all Projects together; they come at random. */
  runsPerSecond: number;
  /** How unlike Projects are: the n-th has a share of 1 / n to this power. 0: all alike. */
  skew: number;
  /** Of a Bot. */
  botMs: number;
  /** Of the function that executes, around the Bot. */
  ownMs: number;
  /** What a new environment of a tenant takes more. */
  coldMs: number;
  /** How long Lambda keeps an environment that nobody uses; AWS promises nothing. */
  idleMinutes: number;
  /** How long the load goes on. */
  minutes: number;
  /** Of the account: `accountConcurrency`. */
  concurrency: number;
  /** `projectRuns`; 0 for none. */
  projectRuns: number;
}

/** Guesses, for you to change. */
export const usualLoad: Load = {
  projects: 20,
  runsPerSecond: 2,
  skew: 1,
  botMs: 50,
  ownMs: 30,
  coldMs: 900,
  idleMinutes: 10,
  minutes: 20,
  concurrency: 1000,
  projectRuns: 0,
};
