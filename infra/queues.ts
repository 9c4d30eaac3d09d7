import type { Purpose } from '../shared/carry/work/queue.ts';
import { eventFunctions, type QueueConsumer } from './deployed-functions.ts';

/** A queue between the dispatcher and a function; CDK makes it on AWS, `infra/local` on a laptop. */
export interface QueueDefinition {
  consumer: QueueConsumer;
  /** Messages of a group are taken one after the other, and once within five minutes: SQS calls it FIFO. */
  keepsOrder?: true;
  /** Messages in one invocation. */
  batchSize: number;
  /** Invocations at once, at most: one purpose must not take the account's whole concurrency. */
  mostConcurrent: number;
  /** So often it is delivered; then it goes to the dead-letter queue. */
  mostReceives: number;
  /** A message that waits so long raises an alarm. */
  oldestSeconds?: number;
  /** What people notice when messages are in the dead-letter queue, and what to do. */
  impact: string;
}

/** After so long a message that was neither taken nor refused is delivered again: longer than its function runs. */
export function hiddenSecondsOf({ consumer }: Pick<QueueDefinition, 'consumer'>): number {
  return 2 * eventFunctions[consumer].timeoutSeconds;
}

const again = 'They are tried again every ten minutes, for 14 days.';

export const queues: Readonly<Record<Purpose, QueueDefinition>> = {
  mail: {
    consumer: 'outbox',
    batchSize: 10,
    mostConcurrent: 2,
    mostReceives: 5,
    impact: `The mail service has not taken some mails in several attempts: those people wait. ${again}`,
  },
  'index-upkeep': {
    consumer: 'index-upkeep',
    // One change may have thousands of index items to remove: its neighbours must not wait for it.
    batchSize: 1,
    mostConcurrent: 20,
    mostReceives: 5,
    impact: `Index items of earlier states of some resources stay behind: searches read more than they need. ${again}`,
  },
  audit: {
    consumer: 'audit',
    batchSize: 10,
    mostConcurrent: 5,
    mostReceives: 5,
    impact: `Some audit entries are not found by who, what or kind; by date they are. ${again}`,
  },
  subscriptions: {
    consumer: 'match',
    keepsOrder: true,
    batchSize: 1,
    mostConcurrent: 20,
    mostReceives: 100,
    impact: `Changes were not matched with the Subscriptions to their type: Bots and hooks are not woken. ${again}`,
  },
  'subscription-status': {
    consumer: 'subscription-status',
    batchSize: 10,
    mostConcurrent: 2,
    mostReceives: 5,
    impact: `Subscriptions stay requested, or do not go on after an error. ${again}`,
  },
  bus: {
    consumer: 'bus',
    batchSize: 10,
    mostConcurrent: 5,
    mostReceives: 5,
    impact: `The event bus has not taken some events: who listens there does not know of them. ${again}`,
  },
  exports: {
    consumer: 'export',
    batchSize: 1,
    // Each reads as fast as it can.
    mostConcurrent: 3,
    // A message comes back for every minute that its export takes, a day's at most.
    mostReceives: 1_000,
    impact: `Exports of Projects are not brought to their end. ${again}`,
  },
  deliveries: {
    consumer: 'deliver',
    keepsOrder: true,
    batchSize: 1,
    // A Project has at most a hundred Subscriptions, unless it was given more, and each has one place: they leave half.
    mostConcurrent: 200,
    // Attempts are counted in the table; a message comes back as often as its delivery has to wait.
    mostReceives: 1_000,
    oldestSeconds: 3_600,
    impact: `Bots and hooks were not told of changes. ${again}`,
  },
};
