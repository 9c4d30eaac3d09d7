import type { Caller } from '../../access/access-token.ts';
import { releaseClaim } from '../../idempotency/claim.ts';
import { Refusal } from '../../refusal.ts';
import type { Item } from '../../table/item.ts';
import { returnPlace, takePlace } from '../bounds/place.ts';
import type { RunInput } from '../contract.ts';
import type { ExecuteRequest, ExecuteServices } from '../execute-services.ts';
import type { BotTarget, GatheredRun } from '../gather-run.ts';
import { safeHeaders } from '../input/safe-headers.ts';
import { acceptedClaim, claimRun } from '../run-claim.ts';
import { nextRun } from '../run-request.ts';
import { type Job, jobItem, lastMomentMs, newJob } from './job.ts';
import { storeText } from './job-text.ts';
import { endJob } from './move-job.ts';

/** A run that goes on without its caller, who is told where to look. */
export interface Accepted {
  jobId: string;
  isReplay: boolean;
}

/**
 * Stages the input, then tells the `jobs` function nothing but the job's id.
 * @throws {Refusal} invalid when Bots call Bots too deep; too-costly, throttled: nothing was accepted
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
  const { admission: _ofThisRequest, ...claims } = caller;
  const { project } = claims;
  const createdAtMs = services.now();
  const run = nextRun(services.newId(), caller.run, createdAtMs);
  const runId = run.id;
  const { deadlineAtMs } = run;
  const claimed = await claimRun(services, caller, { target, gathered }, request, { runId, deadlineAtMs });
  if (claimed?.kept) return { jobId: claimed.kept.runId, isReplay: true };
  const claim = claimed?.claim;
  const free = () => claim && releaseClaim(services, claim).catch(() => undefined);
  const place = await takePlace(services, {
    project,
    settings: gathered.settings,
    run,
    untilMs: lastMomentMs(createdAtMs),
    isNested: caller.run !== undefined,
    isAsync: true,
  }).catch(async (error: unknown) => {
    await free();
    throw error;
  });
  const job = newJob({
    id: runId,
    project,
    botId: gathered.bot.resource.id,
    caller: claims,
    contentType: request.contentType,
    headers: safeHeaders(request.headers),
    traceId: request.traceId,
    inputKind: input.kind,
    createdAtMs,
    lease: place.lease,
    nth: place.start?.nth,
    claim,
  });
  const giveUp = () => Promise.all([giveUpJob(services, job), returnPlace(services, place), free()]);
  try {
    const staged = input.text === undefined ? {} : await storeText(services.table, job, 'input', input.text);
    await write(
      services,
      jobItem(job, staged),
      claim && acceptedClaim(services, claim, { jobId: runId, botId: job.botId }),
    );
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
  kept: Item | undefined,
): Promise<void> {
  if (!kept) return table.put(item);
  await table.transact([
    { name: 'job', put: item },
    { name: 'kept', put: kept },
  ]);
}
