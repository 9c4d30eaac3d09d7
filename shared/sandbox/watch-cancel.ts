/**
 * Whether a run that goes on was cancelled: the API is asked with the run's own token, from outside the guest. Where
 * the token is no longer good, its caller's membership or Project has ended, and the run ends with it.
 */

import http from 'node:http';
import https from 'node:https';
import type { Lookup } from '../address-guard/guarded-request.ts';
import type { RunRequest } from '../bot/contract.ts';
import { guardedFetch } from './guarded-fetch.ts';

/** Most runs have ended before it is asked at all. */
const FIRST_MS = 1000;
/** The longer a run has taken, the less often: at most this long passes until it is noticed. */
const MOST_MS = 5000;
const ANSWER_WITHIN_MS = 3000;

interface Watched {
  api: NonNullable<RunRequest['api']>;
  runId: string;
  traceId: string;
  lookup: Lookup | undefined;
  onCancelled: () => void;
}

/** An API that does not answer cancels nothing: it is asked again. @returns what ends the asking */
export function watchCancel({ api, runId, traceId, lookup, onCancelled }: Watched): () => void {
  const over = new AbortController();
  const agent = new (new URL(api.baseUrl).protocol === 'https:' ? https : http).Agent({ keepAlive: true });
  const beganAtMs = Date.now();
  let timer = setTimeout(ask, FIRST_MS);

  async function ask(): Promise<void> {
    const isCancelled = await answerOf().catch(() => false);
    if (over.signal.aborted) return;
    if (isCancelled) return onCancelled();
    timer = setTimeout(ask, Math.min(MOST_MS, Math.max(FIRST_MS, (Date.now() - beganAtMs) / 10)));
  }

  async function answerOf(): Promise<boolean> {
    const { status, body } = await guardedFetch(
      { url: `${api.baseUrl}/fhir/R4/run/${runId}/status`, method: 'GET', headers: [], redirect: 'error' },
      {
        api: { origin: new URL(api.baseUrl).origin, token: api.token, traceId },
        lookup,
        signal: AbortSignal.any([over.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
        agentFor: () => agent,
      },
    );
    if (status === 401) return true;
    return status === 200 && JSON.parse(body.text).status === 'cancelled';
  }

  return () => {
    over.abort();
    clearTimeout(timer);
    agent.destroy();
  };
}
