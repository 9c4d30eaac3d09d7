import { originHeader } from '../keys/origin-secret.ts';
import { Refusal } from '../refusal.ts';
import { errorResponse } from './errors.ts';
import { traceIdOf } from './request.ts';
import type { Edge, LambdaHandler } from './route-handler.ts';

/** Refuses what did not come through the stage's front, if it has one: before anything of the request is read. */
export function frontDoor({ log, newId, comesThroughFront }: Edge, handler: LambdaHandler): LambdaHandler {
  if (!comesThroughFront) return handler;
  return async (event, context) => {
    if (comesThroughFront(event.headers[originHeader])) return handler(event, context);
    const traceId = traceIdOf(event.headers, newId);
    const refusal = new Refusal('forbidden', 'This API is reached by its own name only');
    const answer = errorResponse(refusal, log, traceId);
    return { ...answer, headers: { ...answer.headers, 'x-trace-id': traceId } };
  };
}
