import type { FunctionName } from '../functions/routes.ts';

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
  /** All that is due in one minute. */
  tick: 55,
  /** A hundred records of the stream, handed on, with a pause when a queue does not take them. */
  dispatch: 60,
  /** All of its calls, each given up after five. */
  canary: 30,
  /** Long enough to be worth its start; whoever invokes it does so again until all is done. */
  reindex: 300,
} as const;

/** A function as it is described, bounded and watched. */
interface DescribedFunction {
  description: string;
  timeoutSeconds: number;
  /** What people notice when it fails. */
  impact: string;
}

function executes(article: string, name: string): DescribedFunction {
  return {
    description: `Runs a Bot named by ${article} ${name}`,
    timeoutSeconds: timeoutSeconds.execute,
    impact:
      `Messages for Bots addressed by ${name} are answered 5xx. Senders that repeat may run a Bot twice: ` +
      'compare with the execution records of the minutes in question.',
  };
}

/** The functions behind the routes: their folders are their names. */
export const apiFunctions: Record<FunctionName, DescribedFunction> = {
  invite: {
    description: 'Invites people into a Project',
    // Two hundred rows of a file.
    timeoutSeconds: timeoutSeconds.execute,
    impact: 'Administrators cannot invite people. Nothing half-done is left behind: they can try again.',
  },
  'execute-by-id': executes('its', 'id'),
  'execute-by-identifier': executes('an', 'identifier'),
  token: {
    description: 'Issues access tokens, publishes their keys',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Programs get no new tokens: within the hour every client is locked out.',
  },
  login: {
    description: 'Signs people in',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'People cannot sign in. Those who are signed in go on.',
  },
  account: {
    description: 'Says who is signed in, and does what is their own',
    timeoutSeconds: timeoutSeconds.short,
    impact:
      'Clients cannot find out who they are signed in as; nobody takes emergency access, signs out or changes a ' +
      'password or second factor.',
  },
  members: {
    description: 'Reads and changes Projects and their members',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Administrators cannot see or change members, or create API keys.',
  },
  bots: {
    description: 'Creates and deploys Bots',
    timeoutSeconds: timeoutSeconds.execute,
    impact: 'Authors cannot create or deploy Bots. Bots that are deployed go on running.',
  },
  subscriptions: {
    description: 'Lists deliveries of Subscriptions, has them made again',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Administrators cannot look at deliveries. Subscriptions go on.',
  },
  resources: {
    description: 'The FHIR API, and every path that is no route',
    // A batch of five hundred.
    timeoutSeconds: timeoutSeconds.execute,
    impact: 'Resources cannot be read or written.',
  },
  site: {
    description: 'Serves the administration app',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'The administration app does not open, and links in mails lead nowhere. The API goes on.',
  },
};

/** The functions behind the queues: their folders are their names. */
export const eventFunctions = {
  outbox: {
    description: 'Sends the mail that transactions have left to be sent',
    timeoutSeconds: timeoutSeconds.outbox,
    impact: 'Invited people get no mail. Nothing is lost: it waits in the outbox until this works again.',
  },
  'index-upkeep': {
    description: 'Removes index items that changes have left behind',
    // The index items of one change, thousands at most.
    timeoutSeconds: 60,
    impact: 'Searches read more than they need to. Nothing wrong is found: every hit is matched again.',
  },
  audit: {
    description: 'Writes what leads to audit entries',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'New audit entries are not found by who, what or kind. The entries themselves are there.',
  },
  match: {
    description: 'Decides which Subscriptions a change is for',
    // A change with all Subscriptions to its type, whose expressions are evaluated one after the other.
    timeoutSeconds: 120,
    impact: 'Bots and hooks that wait for changes are not woken. Nothing is lost: it is tried again.',
  },
  'subscription-status': {
    description: 'Keeps the status of Subscriptions',
    timeoutSeconds: 60,
    impact: 'New Subscriptions do not become active; those in error do not show it, or do not go on.',
  },
  bus: {
    description: 'Tells the event bus what has happened',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Who listens to the event bus is told nothing. Nothing is lost: it is tried again.',
  },
  export: {
    description: 'Exports Projects',
    // An invocation reads on for a minute, then writes what it has.
    timeoutSeconds: 120,
    impact: 'Exports of Projects do not go on. Nothing is lost: they go on when this works again.',
  },
  deliver: {
    description: 'Wakes Bots and calls hooks for Subscriptions',
    // One run of a Bot, and all around it.
    timeoutSeconds: 45,
    impact: 'Bots and hooks that wait for changes are not told of them. Nothing is lost: it is tried again.',
  },
} satisfies Record<string, DescribedFunction>;

/** A function that a queue feeds. */
export type QueueConsumer = keyof typeof eventFunctions;
