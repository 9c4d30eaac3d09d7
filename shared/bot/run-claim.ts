import { exactOptional, type InferInput, nullable, object, string } from 'valibot';
import type { Caller } from '../access/access-token.ts';
import { fieldsOf } from '../fields-of.ts';
import { type Claim, claimOnce, freeItem, keptItem, newClaim } from '../idempotency/claim.ts';
import { Refusal } from '../refusal.ts';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { boundsText } from './bounds/user-bounds.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import type { BotTarget, GatheredRun } from './gather-run.ts';
import { hasFailed } from './has-failed.ts';
import { runResult } from './run-result.ts';

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

/** A repeat of the request is answered this job, from the moment that it exists. */
export function acceptedClaim(
  services: Pick<ExecuteServices, 'now'>,
  claim: Claim,
  { jobId, botId }: { jobId: string; botId: string },
): Item {
  return keptItem(services, claim, { runId: jobId, botId, result: null } satisfies KeptRun);
}
