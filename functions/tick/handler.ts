import type { ScheduledEvent } from 'aws-lambda';
import { lambdaJobs } from '../../shared/aws/lambda.ts';
import { requireVariable } from '../../shared/base/env.ts';
import { tick } from '../../shared/bots/schedule/tick.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageBounds } from '../../shared/composition/execute-services.ts';

const jobs = lambdaJobs(requireVariable(process.env, 'JOBS_FUNCTION'), process.env.JOBS_ENDPOINT);
const services = { ...coreServices(process.env), jobs, ...stageBounds(process.env) };

/** Called once a minute by a schedule. Nobody else may invoke it. */
export async function handler(_event: ScheduledEvent): Promise<void> {
  await tick(services);
}
