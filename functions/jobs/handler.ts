import type { JobEvent } from '../../shared/bot/job/job-starter.ts';
import { executeServices } from '../../shared/composition/execute-services.ts';
import { runJob } from './run-job.ts';

const services = executeServices(process.env);

/** Invoked as an Event: nobody waits, and Lambda repeats nothing. */
export async function handler(event: JobEvent): Promise<void> {
  await runJob(services, event);
}
