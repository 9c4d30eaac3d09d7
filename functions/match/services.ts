import type { Invoker } from '../../shared/bot/invoker.ts';
import type { Purpose } from '../../shared/queue/purposes.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { Services } from '../../shared/services.ts';

export interface MatchServices extends Services {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscription-status'>, Queue>>;
  /** Evaluates expressions, and nothing else. */
  evaluator: Invoker;
  /** Whether hooks may be on this machine. */
  allowsLoopback: boolean;
}
