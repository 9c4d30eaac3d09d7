import { parseRunKey } from '../bot/cancel/cancel-request.ts';
import type { ExecuteRequest } from '../bot/execute-services.ts';
import { parseMediaType } from '../bot/input/media-type.ts';
import type { HttpRequest } from '../http/request.ts';
import { parseIdempotencyKey } from '../idempotency/claim.ts';

/** What `$execute` reads of a request. @throws {Refusal} invalid for a malformed Idempotency-Key or X-Run-Key */
export function executeRequest(request: HttpRequest): ExecuteRequest {
  const idempotencyKey = parseIdempotencyKey(request.headers['idempotency-key']);
  const runKey = parseRunKey(request.headers['x-run-key']);
  const body = request.bytes();
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(runKey === undefined ? {} : { runKey }),
    contentType: contentTypeOf(request.headers['content-type'], body),
    body,
    headers: request.headers,
    traceId: request.traceId,
    isAsync: /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(request.headers.prefer ?? ''),
  };
}

/** API Gateway's HTTP APIs give a request without body and type this one: its caller said none. */
function contentTypeOf(said: string | undefined, body: Buffer | undefined): string | undefined {
  const isEmpty = body === undefined || body.length === 0;
  return isEmpty && parseMediaType(said)?.type === 'application/octet-stream' ? undefined : said;
}
