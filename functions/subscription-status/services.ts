import type { Queue } from '../../shared/queue/queue.ts';
import type { Services } from '../../shared/services.ts';

export interface StatusServices extends Services {
  queues: { deliveries: Queue };
}
