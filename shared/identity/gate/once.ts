import { errorName } from '../../base/values.ts';
import { asRefusal } from '../../carry/http/errors.ts';
import type { HttpRequest } from '../../carry/http/request.ts';
import type { HttpResponse } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { OutcomeUnknown } from '../../carry/table/transact.ts';
import { givesNothing } from '../policies/bounds.ts';
import type { Caller } from './access-token.ts';
import { admit, isLately } from './actor.ts';
import {
  type Claim,
  claimOnce,
  isOwn,
  keptItem,
  newClaim,
  parseIdempotencyKey,
  releaseClaim,
  replayed,
} from './claim.ts';

interface OnceOptions<Request, Result> {
  /** Longer than an attempt can live. */
  windowMs: number;
  /** Whether the operation itself does a thing once, so that after a crash it is simply repeated. */
  afterCrash: Claim['afterCrash'];
  run(request: Request): Promise<Result>;
  answer(result: Result, request: Request): HttpResponse;
  /** What of the result a repeat is answered: all of it, unless a secret is shown but once. */
  keep?(result: Result): Result;
  /** False when a repeat is to be carried out, not answered from memory. */
  isFinal?(result: Result): boolean;
}

/**
 * A route that honours `Idempotency-Key`: what it did is answered again for 24 h. A refusal that left nothing
 * behind frees the key.
 */
export function once<Request extends HttpRequest & { caller: Caller }, Result>(
  services: Services,
  { windowMs, afterCrash, run, answer, keep = (result) => result, isFinal }: OnceOptions<Request, Result>,
): (request: Request) => Promise<HttpResponse> {
  return async (request) => {
    const { caller, route } = request;
    const idempotencyKey = parseIdempotencyKey(request.headers['idempotency-key']);
    if (idempotencyKey === undefined) return answer(await run(request), request);
    const claim = newClaim(
      caller,
      { idempotencyKey, route, content: contentOf(request) },
      { id: services.newId(), untilMs: services.now() + windowMs, afterCrash },
    );
    const { admitted } = services.memory;
    if (!isLately(services, admitted.get(caller.membershipId))) await admit(services, caller, []);
    const kept = await claimOnce(services, claim, () => standing(services, caller, claim));
    // What was given was given before.
    if (kept) givesNothing(caller);
    if (kept) return replayed(answer(kept.result as Result, request));
    const result = await runOrRelease(services, claim, () => run(request));
    if (isFinal?.(result) === false) await releaseClaim(services, claim).catch(() => undefined);
    else await keepResult(services, claim, keep(result), request.traceId);
    return answer(result, request);
  };
}

/** Only whoever may still do it is told what was done. */
async function standing(services: Services, caller: Caller, claim: Claim): Promise<Item | undefined> {
  const { found } = await admit(services, caller, [claim.key]);
  return found.get(claim.key);
}

async function runOrRelease<Result>(
  services: Services,
  claim: Claim,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const isUndone = !(error instanceof OutcomeUnknown) && asRefusal(error) !== undefined;
    // Whatever else went wrong may have left something behind: the claim stands.
    if (isUndone) await releaseClaim(services, claim).catch(() => undefined);
    throw error;
  }
}

/** It is done: the answer stands even when it cannot be kept. */
async function keepResult(services: Services, claim: Claim, result: unknown, traceId: string): Promise<void> {
  try {
    await services.table.putIf(keptItem(services, claim, result), isOwn(claim));
  } catch (error) {
    services.log.error('answer not kept for its Idempotency-Key', { traceId, error: errorName(error) });
  }
}

function contentOf({ rawPath, headers, bytes }: HttpRequest): (string | Uint8Array)[] {
  return [rawPath, (headers['content-type'] ?? '').toLowerCase(), bytes() ?? ''];
}
