import type { QueueConsumer } from './permissions.ts';
import { timeoutSeconds } from './timeouts.ts';

interface EventFunction {
  description: string;
  timeoutSeconds: number;
  /** What people notice when it fails. */
  impact: string;
}

/** The functions behind the queues: their folders are their names. */
export const eventFunctions: Readonly<Record<QueueConsumer, EventFunction>> = {
  outbox: {
    description: 'Sends the mail that transactions have left to be sent',
    timeoutSeconds: timeoutSeconds.outbox,
    impact: 'Invited people get no mail. Nothing is lost: it waits in the outbox until this works again.',
  },
  'index-upkeep': {
    description: 'Removes index items that changes have left behind',
    timeoutSeconds: timeoutSeconds.upkeep,
    impact: 'Searches read more than they need to. Nothing wrong is found: every hit is matched again.',
  },
  audit: {
    description: 'Writes what leads to audit entries',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'New audit entries are not found by who, what or kind. The entries themselves are there.',
  },
  match: {
    description: 'Decides which Subscriptions a change is for',
    timeoutSeconds: timeoutSeconds.match,
    impact: 'Bots and hooks that wait for changes are not woken. Nothing is lost: it is tried again.',
  },
  'subscription-status': {
    description: 'Keeps the status of Subscriptions',
    timeoutSeconds: timeoutSeconds.upkeep,
    impact: 'New Subscriptions do not become active; those in error do not show it, or do not go on.',
  },
  bus: {
    description: 'Tells the event bus what has happened',
    timeoutSeconds: timeoutSeconds.short,
    impact: 'Who listens to the event bus is told nothing. Nothing is lost: it is tried again.',
  },
  export: {
    description: 'Exports Projects',
    timeoutSeconds: timeoutSeconds.export,
    impact: 'Exports of Projects do not go on. Nothing is lost: they go on when this works again.',
  },
  deliver: {
    description: 'Wakes Bots and calls hooks for Subscriptions',
    timeoutSeconds: timeoutSeconds.deliver,
    impact: 'Bots and hooks that wait for changes are not told of them. Nothing is lost: it is tried again.',
  },
};
