import { Refusal } from '../../base/refusal.ts';
import { errorName, fieldsOf } from '../../base/values.ts';
import { parseMediaType } from '../../carry/http/request.ts';
import {
  allOk,
  botFailure,
  type OperationOutcome,
  refusalOutcome,
  refusalStatus,
} from '../../carry/http/response.ts';
import type { Item } from '../../carry/table/item.ts';
import { recordRefused } from '../../identity/audit/record.ts';
import { callerOf } from '../../identity/gate/access-token.ts';
import { isRoot } from '../../identity/gate/actor.ts';
import { releaseLease } from './bounds.ts';
import { keyOfJob } from './cancel.ts';
import { carryOutRun } from './carry-out-run.ts';
import { hasFailed } from './claim.ts';
import type { RunInput, RunResult } from './contract.ts';
import { unknownRun } from './execute.ts';
import { gatherRun } from './gather-run.ts';
import { claimJob, endJob, freeKey, type Job, jobOf, loadText } from './job.ts';
import { type Output, outputOf, printLog } from './output.ts';
import { runRequest } from './run-request.ts';
import type { ExecuteServices, JobEvent } from './services.ts';

/** How a job ends: what its AsyncJob then holds as `output`, JSON of an R4 Parameters. */
interface JobOutput {
  status: 'completed' | 'error' | 'cancelled';
  output: string;
}

interface Told {
  result: RunResult;
  /** Administrators are told the log of a failure. */
  showLog: boolean;
  traceId: string;
}

/** Below what an answer holds, because this is a part of one. */
const mostBytes = 4_400_000;

/** `responseBody` with what `$execute` would have answered, or `outcome`. */
function outputParameters(output: Output, told: Told): JobOutput {
  const ended = parametersOf(output, told);
  if (Buffer.byteLength(ended.output) <= mostBytes) return ended;
  return failed(botFailure('too-long', 'The result is too long to be kept', `Trace ${told.traceId}`));
}

function parametersOf(output: Output, { result, showLog, traceId }: Told): JobOutput {
  switch (output.kind) {
    case 'ok':
      return ended('completed', { name: 'outcome', resource: allOk() });
    case 'text':
      return ended('completed', { name: 'responseBody', ...bodyOf(output.text, output.mediaType) });
    case 'binary': {
      const data = output.bytes.toString('base64');
      const resource = { resourceType: 'Binary', contentType: output.mediaType, data };
      return ended('completed', { name: 'responseBody', resource });
    }
    case 'outcome':
      return ended('error', { name: 'outcome', resource: JSON.parse(output.text) });
    case 'failure': {
      const diagnostics = showLog ? printLog(result.log, result.logTruncated) : '';
      const outcome = botFailure(output.code, output.text, diagnostics || `Trace ${traceId}`);
      return ended(result.outcome.kind === 'cancelled' ? 'cancelled' : 'error', {
        name: 'outcome',
        resource: outcome,
      });
    }
  }
}

/** JSON has no place of its own in Parameters: what is neither a resource nor a simple value stays text. */
function bodyOf(text: string, mediaType: string): object {
  if (!/json$/.test(mediaType)) return { valueString: text };
  const value: unknown = JSON.parse(text);
  switch (typeof value) {
    case 'string':
      return { valueString: value };
    case 'boolean':
      return { valueBoolean: value };
    case 'number':
      return { valueDecimal: value };
    default:
      return typeof fieldsOf(value).resourceType === 'string' ? { resource: value } : { valueString: text };
  }
}

function failed(resource: OperationOutcome): JobOutput {
  return ended('error', { name: 'outcome', resource });
}

function ended(status: JobOutput['status'], parameter: object): JobOutput {
  return { status, output: JSON.stringify({ resourceType: 'Parameters', parameter: [parameter] }) };
}

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

/** @returns `mayRunAgain` where it failed, or did not run */
async function outcomeOf(
  services: ExecuteServices,
  job: Job,
  item: Item,
): Promise<{ output: JobOutput; mayRunAgain: boolean }> {
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
    if (!result) return { output: failed(refusalOutcome(unknownRun(job.id))), mayRunAgain: false };
    const output = outputParameters(outputOf(result.outcome, parseMediaType(contentType)?.type), {
      result,
      showLog: isRoot(gathered.actor),
      traceId,
    });
    return { output, mayRunAgain: hasFailed(result.outcome, input.kind) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const asked = { method: 'POST', route: '/fhir/R4/Bot/{id}/$execute', parameters: { id: job.botId } };
    await recordRefused(services, caller, [{ ...asked, status: refusalStatus(error.kind) }]);
    return { output: failed(refusalOutcome(error)), mayRunAgain: true };
  }
}
