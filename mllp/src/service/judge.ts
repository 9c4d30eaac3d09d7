import { OAuthError } from '../../../client/src/oauth-error.ts';
import { OperationOutcomeError } from '../../../client/src/operation-outcome-error.ts';
import { errorCode } from '../../../shared/error-name.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { SettingsError } from '../settings/fields.ts';
import { NoToken } from './tokens.ts';

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
