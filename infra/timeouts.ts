/**
 * Seconds, each below the one that waits for it, so that whoever runs out of time is answered for by
 * the next: API Gateway (30 s at most, fixed by AWS), the function of a route, the invoker. A Bot has
 * 25 s, less when the deadline in its payload is nearer.
 */
export const timeoutSeconds = {
  api: 30,
  /** CloudFront, where it stands before API Gateway. */
  front: 35,
  execute: 29,
  invoker: 28,
  /** Lambda's own limit, and below it the invoker of jobs, whose Bots have 840 s. */
  jobs: 900,
  longInvoker: 870,
  /** Functions that wait for nothing but the table. */
  short: 15,
  /**
   * CloudFormation, for the keys of a stage: Lambda invokes their function thrice within some four minutes. What is left
   * out is an hour, by CloudFormation's own default.
   */
  stageKeysMade: 300,
  /** A mail is claimed for 60 s, so an attempt ends before. */
  outbox: 50,
  /** The index items of one change, thousands at most. */
  upkeep: 60,
  /** A change with all Subscriptions to its type, whose expressions are evaluated one after the other. */
  match: 120,
  /** All that is due in one minute. */
  tick: 55,
  /** One run of a Bot, and all around it. */
  deliver: 45,
  /** A hundred records of the stream, handed on, with a pause when a queue does not take them. */
  dispatch: 60,
  /** All of its calls, each given up after five. */
  canary: 30,
  /** An invocation of an export reads on for a minute, then writes what it has. */
  export: 120,
  /** Long enough to be worth its start; whoever invokes it does so again until all is done. */
  reindex: 300,
} as const;
