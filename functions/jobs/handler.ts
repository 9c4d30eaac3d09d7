import { runJob } from '../../shared/bots/run/run-job.ts';
import type { JobEvent } from '../../shared/bots/run/services.ts';
import { executeServices } from '../../shared/composition/execute-services.ts';

const services = executeServices(process.env);

/** Invoked as an Event: nobody waits, and Lambda repeats nothing. */
export async function handler(event: JobEvent): Promise<void> {
  await runJob(services, event);
}
