import type { ExecuteServices } from '../../shared/bot/execute-services.ts';
import type { Purpose } from '../../shared/queue/purposes.ts';
import type { Queue } from '../../shared/queue/queue.ts';

export interface DeliverServices extends ExecuteServices {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscription-status'>, Queue>>;
  /** Whether hooks may be on this machine. */
  allowsLoopback: boolean;
}
