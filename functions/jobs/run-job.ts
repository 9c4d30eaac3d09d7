import { callerOf } from '../../shared/access/access-token.ts';
import { mayAdminister } from '../../shared/access/actor.ts';
import { recordRefused } from '../../shared/audit/refused.ts';
import { releaseLease } from '../../shared/bot/bounds/lease.ts';
import { keyOfJob } from '../../shared/bot/cancel/cancel-request.ts';
import { carryOutRun } from '../../shared/bot/carry-out-run.ts';
import type { RunInput } from '../../shared/bot/contract.ts';
import type { ExecuteServices } from '../../shared/bot/execute-services.ts';
import { gatherRun } from '../../shared/bot/gather-run.ts';
import { hasFailed } from '../../shared/bot/has-failed.ts';
import { parseMediaType } from '../../shared/bot/input/media-type.ts';
import { type Job, jobOf } from '../../shared/bot/job/job.ts';
import type { JobEvent } from '../../shared/bot/job/job-starter.ts';
import { loadText } from '../../shared/bot/job/job-text.ts';
import { claimJob, endJob, freeKey } from '../../shared/bot/job/move-job.ts';
import { outputOf } from '../../shared/bot/output.ts';
import { runRequest } from '../../shared/bot/run-request.ts';
import { unknownRun } from '../../shared/bot/unknown-run.ts';
import { errorName } from '../../shared/error-name.ts';
import { refusalStatus } from '../../shared/http/outcome.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Item } from '../../shared/table/item.ts';
import { type JobOutput, outputParameters, refusalParameters } from './job-output.ts';

/**
 * Runs an accepted job once. Whoever asked is looked up again: a right that ended meanwhile ended.
 * A fault leaves the job active; who asks for it after its deadline is told so.
 */
export async function runJob(services: ExecuteServices, event: JobEvent): Promise<void> {
  try {
    await claimAndRun(services, event);
  } catch (error) {
    // Lambda logs what is thrown and queues its text, and one of the SDK may name our account.
    services.log.error('job broke off', { jobId: event.jobId, error: errorName(error) });
    throw new Error('The job broke off');
  }
}

async function claimAndRun(services: ExecuteServices, { project, jobId }: JobEvent): Promise<void> {
  const item = await claimJob(services, project, jobId);
  const job = jobOf(item);
  if (!item || !job) {
    services.log.info('job not begun', { jobId });
    return;
  }
  try {
    const { output, mayRunAgain } = await outcomeOf(services, job, item);
    if (!(await endJob(services, job, 'active', output))) {
      services.log.info('job ended otherwise', { jobId });
    } else if (mayRunAgain) {
      await freeKey(services, job);
    }
  } finally {
    await releaseLease(services, job.lease);
  }
}

interface JobOutcome {
  output: JobOutput;
  /** It failed, or did not run. */
  mayRunAgain: boolean;
}

async function outcomeOf(services: ExecuteServices, job: Job, item: Item): Promise<JobOutcome> {
  // Who asked may have left their desk since.
  const caller = callerOf({ ...job.caller, askedAtMs: job.createdAtMs }, 'member');
  try {
    const text = await loadText(services.table, item, 'input');
    const input: RunInput = { kind: job.inputKind, ...(text === undefined ? {} : { text }) };
    const asItself = job.scheduledAt !== undefined;
    const found = await gatherRun(services, caller, { id: job.botId }, { asItself });
    const gathered = asItself ? { ...found, cause: { scheduled: String(job.scheduledAt) } } : found;
    const { contentType, headers, traceId } = job;
    const request = { contentType, headers, traceId, body: undefined };
    const begun = {
      runId: job.id,
      startedAtMs: services.now(),
      isAsync: true,
      nth: job.nth,
      cancelKey: keyOfJob(job.id),
    };
    const run = await runRequest(services, gathered, input, request, begun);
    const result = await carryOutRun(services, gathered, run);
    if (!result) return { output: refusalParameters(unknownRun(job.id)), mayRunAgain: false };
    const output = outputParameters(outputOf(result.outcome, parseMediaType(contentType)?.type), {
      result,
      showLog: mayAdminister(gathered.actor),
      traceId,
    });
    return { output, mayRunAgain: hasFailed(result.outcome, input.kind) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await recordRefused(services, caller, {
      method: 'POST',
      route: '/fhir/R4/Bot/{id}/$execute',
      parameters: { id: job.botId },
      status: refusalStatus(error.kind),
    });
    return { output: refusalParameters(error), mayRunAgain: true };
  }
}
