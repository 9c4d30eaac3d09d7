import type { Caller } from '../auth/token.ts';
import { releaseClaim } from '../idempotency/claim.ts';
import { type Job, jobItem, lastMomentMs, newJob } from '../job/job.ts';
import { endJob } from '../job/move-job.ts';
import { storeText } from '../job/text.ts';
import { Refusal } from '../refusal.ts';
import type { RunInput } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import type { BotTarget, GatheredRun } from './gather-run.ts';
import { releaseLease, takeLease } from './lease.ts';
import { claimRun, keptRun } from './run-claim.ts';
import { nextRun } from './run-request.ts';
import { safeHeaders } from './safe-headers.ts';

/** A run that goes on without its caller, who is told where to look. */
export interface Accepted {
  jobId: string;
  isReplay: boolean;
}

/**
 * Stages the input, then tells the `jobs` function nothing but the job's id.
 * @throws {Refusal} invalid when Bots call Bots too deep; throttled: nothing was accepted
 */
export async function acceptJob(
  services: ExecuteServices,
  caller: Caller,
  {
    target,
    gathered,
    input,
    request,
  }: {
    target: BotTarget;
    gathered: GatheredRun;
    input: RunInput;
    request: ExecuteRequest;
  },
): Promise<Accepted> {
  const { project } = caller;
  const createdAtMs = services.now();
  const run = nextRun(services.newId(), caller.run, createdAtMs);
  const runId = run.id;
  const claimed = await claimRun(services, caller, target, request, {
    runId,
    deadlineAtMs: run.deadlineAtMs,
  });
  if (claimed?.kept) return { jobId: claimed.kept.runId, isReplay: true };
  const claim = claimed?.claim;
  const free = () => claim && releaseClaim(services, claim).catch(() => undefined);
  const place = { id: runId, deadlineAtMs: lastMomentMs(createdAtMs) };
  const lease = await takeLease(services, project, gathered.settings.concurrentRuns, place).catch(
    async (error: unknown) => {
      await free();
      throw error;
    },
  );
  const job = newJob({
    id: runId,
    project,
    botId: gathered.bot.resource.id,
    caller,
    contentType: request.contentType,
    headers: safeHeaders(request.headers),
    traceId: request.traceId,
    inputKind: input.kind,
    createdAtMs,
    lease,
  });
  const giveUp = () => Promise.all([giveUpJob(services, job), releaseLease(services, lease), free()]);
  try {
    const staged = input.text === undefined ? {} : await storeText(services.table, job, 'input', input.text);
    await write(services, jobItem(job, staged), claim && keptRun(services, claim, runId, undefined));
    if ((await services.jobs.start({ project, jobId: runId })) === 'started')
      return { jobId: runId, isReplay: false };
  } catch (error) {
    await giveUp();
    throw error;
  }
  await giveUp();
  throw new Refusal('throttled', 'Too many runs at once; this one was not accepted', {
    retryAfterSeconds: 1,
  });
}

/** Nobody was told of it, and nothing will begin it; at the latest its time ends it. */
async function giveUpJob(services: ExecuteServices, job: Job): Promise<void> {
  await endJob(services, job, 'accepted', { status: 'error', output: '{}' }).catch((error: Error) =>
    services.log.error('job not given up', { error: error.name, jobId: job.id }),
  );
}

/** A repeat with the same Idempotency-Key is answered the same job from the moment that it exists. */
async function write(
  { table }: ExecuteServices,
  item: ReturnType<typeof jobItem>,
  kept: ReturnType<typeof keptRun> | undefined,
): Promise<void> {
  if (!kept) return table.put(item);
  await table.transact([
    { name: 'job', put: item },
    { name: 'kept', put: kept },
  ]);
}
