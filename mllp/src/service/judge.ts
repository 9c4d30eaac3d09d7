import { OperationOutcomeError } from '../../../client/src/operation-outcome-error.ts';
import { type AccessTokens, cachedTokens, OAuthError, requestTokens } from '../../../client/src/tokens.ts';
import { errorCode, fieldsOf } from '../../../shared/base/values.ts';
import { SettingsError } from '../settings/fields.ts';

export interface Credentials {
  /** The service's address. */
  service: string;
  clientId: string;
  /** Read for each token, so that a rotated secret needs no restart. */
  readSecret(): Promise<string>;
}

/** A token that could not be had: the call that needed it was never sent. */
export class NoToken extends Error {
  override readonly name = 'NoToken';
}

/** The client replaces a token a minute before it ends; looked at more often, it is never late. */
const lookEveryMs = 20_000;
/** A token endpoint that does not answer fails those who wait, and the next one tries anew. */
const mostMs = 15_000;

/** The client's own token (RFC 6749 section 4.4). `get` rejects with NoToken. */
export function clientTokens({ service, clientId, readSecret }: Credentials): AccessTokens {
  const tokens = cachedTokens(async () => {
    const request = requestTokens(service, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: await readSecret(),
    });
    return within(request, mostMs);
  });
  return {
    get: () =>
      tokens.get().catch((cause: Error) => {
        throw new NoToken(cause.message, { cause });
      }),
    drop: tokens.drop,
  };
}

/**
 * Replaces the token before a message needs it.
 * @param told whether there is one now
 * @returns what ends it
 */
export function keepFresh(tokens: AccessTokens, told: (error: NoToken | undefined) => void): () => void {
  const look = () =>
    tokens.get().then(
      () => told(undefined),
      (error: NoToken) => told(error),
    );
  void look();
  const timer = setInterval(look, lookEveryMs).unref();
  return () => clearInterval(timer);
}

async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The token endpoint does not answer')), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** What a failed call to the service means for the message. */
export type Judgement =
  /** Worth another attempt with the same key. */
  | { kind: 'again'; mayHaveRun: boolean; waitMs: number; atLeast: boolean; text: string }
  /** The service has decided. */
  | { kind: 'decided'; refusal: OperationOutcomeError; text: string }
  /** Nothing was sent, and another attempt would fail alike. */
  | { kind: 'hopeless'; text: string };

/** The time was over before the request was sent: what went before it is the reason, if anything did. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** Causes of `fetch` that end a call before anything is sent. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/**
 * Reads the error of one attempt. A lost connection, a time-out and a 5xx may hide a run; the
 * `Idempotency-Key` makes it safe to ask again. Pure.
 * @param isSent the request was about to be sent when it failed
 */
export function judge(error: unknown, isSent: boolean): Judgement {
  if (error instanceof NoToken) return judgeToken(error.cause);
  if (error instanceof OperationOutcomeError) return judgeRefusal(error);
  if (error instanceof TooLate) return { kind: 'hopeless', text: '' };
  const code = causeOf(error);
  const text = `The service does not answer (${code})`;
  return again(text, { mayHaveRun: isSent && !neverSent.has(code) });
}

function judgeToken(cause: unknown): Judgement {
  if (cause instanceof SettingsError) return { kind: 'hopeless', text: cause.message };
  if (!(cause instanceof OAuthError)) return again(`No access token (${causeOf(cause)})`, {});
  const text = `No access token: ${cause.code}`;
  const isOurs = cause.status >= 400 && cause.status < 500 && cause.status !== 429;
  return isOurs ? { kind: 'hopeless', text } : again(text, {});
}

function judgeRefusal(refusal: OperationOutcomeError): Judgement {
  const { status, retryAfterSeconds } = refusal;
  const waitMs = (retryAfterSeconds ?? 0) * 1000;
  // Not run, says the service; the token was dropped and the next attempt has another one.
  if (status === 401 || status === 429 || status === 503) {
    return again(refusal.message, { waitMs, atLeast: true });
  }
  // Its own earlier request with this key is still running: the answer is worth asking for sooner.
  if (status === 409 && retryAfterSeconds !== undefined) {
    return again(refusal.message, { waitMs, mayHaveRun: true });
  }
  if (status >= 500 || status === 408) return again(`HTTP ${status}`, { mayHaveRun: true });
  return { kind: 'decided', refusal, text: refusal.message };
}

function again(
  text: string,
  { mayHaveRun = false, waitMs = 0, atLeast = false }: Partial<Judgement & { kind: 'again' }>,
): Judgement {
  return { kind: 'again', mayHaveRun, waitMs, atLeast, text };
}

/** The system's or undici's word for a failed `fetch`; never its text, which may name addresses. */
function causeOf(error: unknown): string {
  const code = errorCode(fieldsOf(error).cause);
  return code ?? (error instanceof Error ? error.name : 'unknown');
}
