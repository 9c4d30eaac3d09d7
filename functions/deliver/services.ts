import type { ExecuteServices } from '../../shared/bot/execute-services.ts';
import type { Purpose } from '../../shared/queue/purposes.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { KnownSubscriptions } from '../../shared/subscription/listed.ts';

export interface DeliverServices extends ExecuteServices {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscription-status'>, Queue>>;
  /** How many share what their Project may take. */
  known: Pick<KnownSubscriptions, 'count'>;
  /** Whether hooks may be on this machine. */
  allowsLoopback: boolean;
}
