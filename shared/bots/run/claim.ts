import { exactOptional, type InferInput, nullable, object, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import {
  type Claim,
  claimOnce,
  freeItem,
  keptItem,
  newClaim,
  releaseClaim,
} from '../../identity/gate/claim.ts';
import { messageOf } from '../hl7/message.ts';
import { returnPlace, takePlace } from './bounds.ts';
import type { RunInput, RunOutcome, RunRequest, RunResult } from './contract.ts';
import type { BotTarget, GatheredRun } from './gather-run.ts';
import { endJob, type Job, jobItem, lastMomentMs, newJob, storeText } from './job.ts';
import { boundsText, nextRun, runResult, safeHeaders } from './run-request.ts';
import type { ExecuteRequest, ExecuteServices } from './services.ts';

/**
 * Whether a run came to nothing, so that its caller may have it run again: the Bot failed, or gave an
 * HL7 v2 message a negative acknowledgement (table 0008: AE, AR, CE, CR), on which senders repeat it.
 */
export function hasFailed(outcome: RunOutcome, inputKind: RunInput['kind']): boolean {
  if (outcome.kind !== 'returned') return true;
  const { value } = outcome;
  return inputKind === 'hl7' && (value.type === 'hl7' || value.type === 'string') && isRejection(value.text);
}

function isRejection(text: string): boolean {
  return /^[AC][ER]$/.test(messageOf(text)?.getAckType() ?? '');
}

/** A run without a result this long after its deadline was cut off: nobody knows whether it ran. */
const graceMs = 3_000;

/** What is kept of a run for a repeat of its request; null when nobody knows how it ended. */
const keptRun = object({
  runId: string(),
  /** Of the Bot that ran; earlier releases did not keep it. */
  botId: exactOptional(string()),
  result: nullable(runResult),
});
type KeptRun = InferInput<typeof keptRun>;

const readKept = stored('result of a run', keptRun);

/**
 * Claims the request's Idempotency-Key for this run: the one write before it. An earlier answer is of the Bot that the
 * caller may execute now, and was made within no other user's rights.
 * @param gathered that the caller may execute the Bot at this request, repeat or not
 * @returns the claim, or what an earlier run with this key came to; undefined without a key
 * @throws {Refusal} unprocessable, conflict, outcome-unknown
 */
export async function claimRun(
  services: ExecuteServices,
  caller: Caller,
  { target, gathered }: { target: BotTarget; gathered: Pick<GatheredRun, 'actor' | 'bot'> },
  { idempotencyKey, contentType = '', body = Buffer.alloc(0), isAsync }: ExecuteRequest,
  run: Pick<RunRequest, 'runId' | 'deadlineAtMs'>,
): Promise<{ claim: Claim; kept: KeptRun | undefined } | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const isById = 'id' in target;
  const names = isById ? [target.id] : [target.system, target.value];
  const { actor, bot } = gathered;
  const bounds = bot.resource.runAsUser === true ? boundsText(actor) : '';
  const claim = newClaim(
    caller,
    {
      idempotencyKey,
      route: isById ? 'execute-by-id' : 'execute-by-identifier',
      // Whoever waits for the first must not be answered the second.
      content: [
        ...names,
        contentType,
        body,
        ...(isAsync ? ['respond-async'] : []),
        ...(bounds ? [bounds] : []),
      ],
    },
    { id: run.runId, untilMs: run.deadlineAtMs + graceMs, afterCrash: 'refuse' },
  );
  const found = await claimOnce(services, claim, async () =>
    (await services.table.read([claim.key])).get(claim.key),
  );
  const kept = found && readKept(fieldsOf(found.result));
  if (kept?.botId !== undefined && kept.botId !== bot.resource.id) {
    throw new Refusal(
      'unprocessable',
      'This Idempotency-Key was used with another Bot, which had this identifier',
    );
  }
  return { claim, kept };
}

/**
 * What stands under the key once the run has ended, to be written with its record: what it returned,
 * or that nobody knows how it ended. A failure that is known leaves the key free for the next attempt.
 */
export function endedClaim(
  services: Pick<ExecuteServices, 'now'>,
  claim: Claim,
  { runId, botId, input }: Pick<RunRequest, 'runId' | 'input'> & { botId: string },
  result: RunResult | undefined,
): Item {
  if (!result) return keptItem(services, claim, { runId, botId, result: null } satisfies KeptRun);
  if (hasFailed(result.outcome, input.kind)) return freeItem(services, claim);
  // The log is not part of the answer.
  const kept: KeptRun = { runId, botId, result: { ...result, log: [], logTruncated: false } };
  return keptItem(services, claim, kept);
}

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
  { target, gathered }: { target: BotTarget; gathered: GatheredRun },
  input: RunInput,
  request: ExecuteRequest,
): Promise<Accepted> {
  const { admission: _ofThisRequest, ...claims } = caller;
  const { project } = claims;
  const createdAtMs = services.now();
  const run = nextRun(services.newId(), caller.run, createdAtMs);
  const { id: runId, deadlineAtMs } = run;
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
  let started: 'started' | 'refused' = 'refused';
  try {
    const staged = input.text === undefined ? {} : await storeText(services.table, job, 'input', input.text);
    await write(services, job, staged);
    started = await services.jobs.start({ project, jobId: runId });
  } finally {
    if (started === 'refused')
      await Promise.all([giveUpJob(services, job), returnPlace(services, place), free()]);
  }
  if (started === 'started') return { jobId: runId, isReplay: false };
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
async function write(services: ExecuteServices, job: Job, staged: Record<string, unknown>): Promise<void> {
  const { table } = services;
  const { claim } = job;
  const item = jobItem(job, staged);
  if (!claim) return table.put(item);
  const kept: KeptRun = { runId: job.id, botId: job.botId, result: null };
  await table.transact([
    { name: 'job', put: item },
    { name: 'kept', put: keptItem(services, claim, kept) },
  ]);
}
