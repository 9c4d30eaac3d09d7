import type { ExecuteRequest } from '../bot/execute-services.ts';
import { parseIdempotencyKey } from '../idempotency/claim.ts';
import { Refusal } from '../refusal.ts';
import type { HttpRequest } from './request.ts';

/** What `$execute` reads of a request. @throws {Refusal} invalid: acting for somebody else is not offered */
export function executeRequest(request: HttpRequest): ExecuteRequest {
  if (request.headers['x-medplum-on-behalf-of'] !== undefined) {
    throw new Refusal('invalid', 'X-Medplum-On-Behalf-Of is not supported');
  }
  const idempotencyKey = parseIdempotencyKey(request.headers['idempotency-key']);
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    contentType: request.headers['content-type'],
    body: request.bytes(),
    headers: request.headers,
    traceId: request.traceId,
    isAsync: /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(request.headers.prefer ?? ''),
  };
}
