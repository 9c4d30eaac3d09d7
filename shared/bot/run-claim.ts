import type { Caller } from '../auth/token.ts';
import { type Claim, claimOnce, keptItem, newClaim } from '../idempotency/claim.ts';
import type { Item } from '../table/table.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import type { BotTarget } from './gather-run.ts';

/** A run without a result this long after its deadline was cut off: nobody knows whether it ran. */
const graceMs = 3_000;

/** What is kept of a run for a repeat of its request; null when nobody knows how it ended. */
type KeptRun = { runId: string; result: RunResult | null };

/**
 * Claims the request's Idempotency-Key for this run: the one write before it.
 * @returns the claim, or what an earlier run with this key came to; undefined without a key
 * @throws {Refusal} unprocessable, conflict
 */
export async function claimRun(
  services: ExecuteServices,
  caller: Caller,
  target: BotTarget,
  { idempotencyKey, contentType = '', body = Buffer.alloc(0), isAsync }: ExecuteRequest,
  run: Pick<RunRequest, 'runId' | 'deadlineAtMs'>,
): Promise<{ claim: Claim; kept: KeptRun | undefined } | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const isById = 'id' in target;
  const names = isById ? [target.id] : [target.system, target.value];
  const claim = newClaim(
    caller,
    {
      idempotencyKey,
      route: isById ? 'execute-by-id' : 'execute-by-identifier',
      // Whoever waits for the first must not be answered the second.
      content: [...names, contentType, body, ...(isAsync ? ['respond-async'] : [])],
    },
    { id: run.runId, untilMs: run.deadlineAtMs + graceMs, afterCrash: 'refuse' },
  );
  const found = await claimOnce(services, claim, async () =>
    (await services.table.read([claim.key])).get(claim.key),
  );
  return { claim, kept: found?.result as KeptRun | undefined };
}

/** What the run came to, to be written with its record. The log of a result is not answered: not kept. */
export function keptRun(
  services: ExecuteServices,
  claim: Claim,
  runId: string,
  result: RunResult | undefined,
): Item {
  const isAnswer = result?.outcome.kind === 'returned';
  const kept: KeptRun = {
    runId,
    result: result ? { ...result, ...(isAnswer ? { log: [], logTruncated: false } : {}) } : null,
  };
  return keptItem(services, claim, kept);
}
