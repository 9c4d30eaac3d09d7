import { admit, requireAdministrator } from '../auth/actor.ts';
import type { Caller } from '../auth/token.ts';
import {
  type Claim,
  claimOnce,
  isOwn,
  keptItem,
  newClaim,
  parseIdempotencyKey,
  releaseClaim,
} from '../idempotency/claim.ts';
import type { Services } from '../services.ts';
import type { Item } from '../table/table.ts';
import { OutcomeUnknown } from '../table/transact.ts';
import { authenticated, type Endpoint } from './endpoint.ts';
import { asRefusal } from './errors.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';

interface OnceOptions<Result> {
  row: { method: string; path: string; access: 'token' };
  body: Endpoint['body'];
  /** Longer than an attempt can live. */
  windowMs: number;
  /** Whether the operation itself does a thing once, so that after a crash it is simply repeated. */
  afterCrash: Claim['afterCrash'];
  /** What of the result a repeat is answered: all of it, unless a secret is shown but once. */
  keep?(result: Result): Result;
  /** False when a repeat is to be carried out, not answered from memory. */
  isFinal?(result: Result): boolean;
  run(caller: Caller, request: HttpRequest): Promise<Result>;
  answer(result: Result, request: HttpRequest): HttpResponse;
}

/**
 * An administrators' endpoint that honours `Idempotency-Key`: what it did is answered again for 24 h.
 * A refusal that left nothing behind frees the key.
 */
export function once<Result>(services: Services, options: OnceOptions<Result>): Endpoint {
  const { row, body, run, answer } = options;
  return authenticated(
    row,
    body,
    async (caller, request) => {
      const idempotencyKey = parseIdempotencyKey(request.headers['idempotency-key']);
      if (idempotencyKey === undefined) return answer(await run(caller, request), request);
      const claim = newClaim(
        caller,
        { idempotencyKey, route: `${row.method} ${row.path}`, content: contentOf(request) },
        { id: services.newId(), untilMs: services.now() + options.windowMs, afterCrash: options.afterCrash },
      );
      const kept = await claimOnce(services, claim, () => standing(services, caller, request, claim));
      if (kept) return replayed(answer(kept.result as Result, request));
      const result = await runOrRelease(services, claim, () => run(caller, request));
      if (options.isFinal?.(result) === false) await releaseClaim(services, claim).catch(() => undefined);
      else await keep(services, claim, options.keep?.(result) ?? result, request.traceId);
      return answer(result, request);
    },
    (response) => response,
  );
}

/** The header that tells a repeated answer from a first one. */
export function replayed(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'idempotency-replayed': 'true' } };
}

/** Only whoever may still do it is told what was done. */
async function standing(
  services: Services,
  caller: Caller,
  request: HttpRequest,
  claim: Claim,
): Promise<Item | undefined> {
  const { actor, found } = await admit(services, caller, [claim.key]);
  requireAdministrator(actor, request.param('projectId'));
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
async function keep(services: Services, claim: Claim, result: unknown, traceId: string): Promise<void> {
  try {
    await services.table.put(keptItem(services, claim, result), isOwn(claim));
  } catch (error) {
    services.log.error('answer not kept for its Idempotency-Key', { traceId, error: (error as Error).name });
  }
}

function contentOf({ rawPath, headers, json, bytes }: HttpRequest): (string | Uint8Array)[] {
  const content = json === undefined || typeof json === 'string' ? (bytes() ?? '') : JSON.stringify(json);
  return [rawPath, (headers['content-type'] ?? '').toLowerCase(), content];
}
