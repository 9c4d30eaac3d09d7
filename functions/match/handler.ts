import { lambdaInvoker } from '../../shared/aws/lambda.ts';
import { requireVariable } from '../../shared/base/env.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues, queueHandler } from '../../shared/composition/queues.ts';
import { parseCandidate } from '../../shared/records/subscriptions/change.ts';
import { matchChange } from '../../shared/records/subscriptions/match.ts';

const services = {
  ...coreServices(process.env),
  queues: openQueues(process.env, ['deliveries', 'subscription-status']),
  evaluator: lambdaInvoker(requireVariable(process.env, 'EVALUATOR_FUNCTION'), process.env.LAMBDA_ENDPOINT),
  allowsLoopback: process.env.PORTICO_ALLOW_LOOPBACK_HOOKS === '1',
};

export const handler = queueHandler(
  process.env,
  'subscriptions',
  services,
  (body) => matchChange(services, parseCandidate(body)),
  { mayWait: true },
);
