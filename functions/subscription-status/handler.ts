import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues, queueHandler } from '../../shared/composition/queues.ts';
import { changeStatus, parseStatus } from '../../shared/records/subscriptions/change-status.ts';

const services = { ...coreServices(process.env), queues: openQueues(process.env, ['deliveries']) };

export const handler = queueHandler(process.env, 'subscription-status', services, (body) =>
  changeStatus(services, parseStatus(body)),
);
