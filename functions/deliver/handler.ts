import { executeServices } from '../../shared/composition/execute-services.ts';
import { openQueues, queueHandler } from '../../shared/composition/queues.ts';
import { deliverNext } from '../../shared/records/subscriptions/deliver/deliver.ts';
import { parseLane } from '../../shared/records/subscriptions/delivery.ts';
import { knownSubscriptions } from '../../shared/records/subscriptions/listed.ts';

const core = executeServices(process.env);
/** A Subscription more or less is noticed after so long. */
const memoryMs = 10_000;
const services = {
  ...core,
  known: knownSubscriptions(core, memoryMs),
  queues: openQueues(process.env, ['deliveries', 'subscription-status']),
  allowsLoopback: process.env.PORTICO_ALLOW_LOOPBACK_HOOKS === '1',
};

export const handler = queueHandler(
  process.env,
  'deliveries',
  services,
  (body) => deliverNext(services, parseLane(body)),
  { mayWait: true },
);
