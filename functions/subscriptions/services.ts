import type { Purpose } from '../../shared/queue/purposes.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { Services } from '../../shared/services.ts';

export interface SubscriptionServices extends Services {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscriptions'>, Queue>>;
}
