import { signInMaxAgeSeconds } from '../../base/limits.ts';
import type { Log } from '../../base/log.ts';
import { Refusal } from '../../base/refusal.ts';
import { errorName, fieldsOf } from '../../base/values.ts';
import { isTransientCancellation, isUnanswered, OutcomeUnknown } from '../table/transact.ts';
import {
  faultOutcome,
  fhirResponse,
  type HttpResponse,
  type OperationOutcome,
  refusalOutcome,
  refusalStatus,
} from './response.ts';

interface Failure {
  status: number;
  outcome: OperationOutcome;
  headers: Record<string, string>;
}

/** Turns whatever was thrown into the answer. */
export function errorResponse(error: unknown, log: Log, traceId: string): HttpResponse {
  const { status, outcome, headers } = failureOf(error, log, traceId);
  return fhirResponse(status, outcome, headers);
}

/** What is answered to whatever was thrown; a fault is logged here, once. */
export function failureOf(error: unknown, log: Log, traceId: string): Failure {
  const refusal = asRefusal(error);
  if (!refusal) {
    log.error('fault', { traceId, ...describe(error) });
    return { status: 500, outcome: faultOutcome(traceId), headers: {} };
  }
  log.info('refused', { traceId, kind: refusal.kind, reason: refusal.reason });
  return {
    status: refusalStatus(refusal.kind),
    outcome: refusalOutcome(refusal),
    headers: refusalHeaders(refusal),
  };
}

/** RFC 9470 section 3, with a status that ends no session. */
const stepUpChallenge = `Bearer error="insufficient_user_authentication", max_age=${signInMaxAgeSeconds}`;

function refusalHeaders(refusal: Refusal): Record<string, string> {
  return {
    ...(refusal.kind === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(refusal.kind === 'insufficient-user-authentication' ? { 'www-authenticate': stepUpChallenge } : {}),
    ...(refusal.allow ? { allow: refusal.allow.join(', ') } : {}),
    ...(refusal.retryAfterSeconds ? { 'retry-after': String(refusal.retryAfterSeconds) } : {}),
  };
}

/** Middleware and the SDK throw errors of their own; those that are an expected "no" are named here. */
export function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof OutcomeUnknown) {
    // Whoever can repeat without harm has caught it before: existing clients would repeat a 5xx.
    return new Refusal('conflict', 'It may have been done: look before you repeat it', {
      reason: error.cause,
    });
  }
  const { statusCode } = fieldsOf(error);
  const name = errorName(error);
  if (statusCode === 415) {
    return new Refusal(
      'unsupported-media-type',
      'Content-Type must be application/json or application/fhir+json',
    );
  }
  if (statusCode === 422) return new Refusal('invalid', 'Content could not be parsed');
  // What may have been written is an OutcomeUnknown: here nothing was.
  if (throttling.has(name) || isTransientCancellation(error) || isUnanswered(error)) {
    return new Refusal('unavailable', 'Try again shortly', { reason: name, retryAfterSeconds: 1 });
  }
  return undefined;
}

const throttling = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionInProgressException',
  'TransactionConflictException',
]);

/** The error's kind and where it was thrown. Its message may hold what a caller sent: left out. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const where = error.stack
    ?.split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 8);
  return { error: error.name, where };
}
