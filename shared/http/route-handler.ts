import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Caller } from '../access/access-token.ts';
import type { ComesThroughFront } from '../keys/origin-secret.ts';
import { longestBodyBytes } from '../limits.ts';
import type { Log } from '../log.ts';
import { Refusal } from '../refusal.ts';
import { errorResponse } from './errors.ts';
import { type JsonHandler, jsonBody } from './json-body.ts';
import { requireProducible } from './producible.ts';
import { type HttpRequest, readRequest, traceIdOf } from './request.ts';
import type { HttpResponse } from './response.ts';

export type LambdaHandler = (event: APIGatewayProxyEventV2, context: Context) => Promise<HttpResponse>;

/** What a function does at a route. */
export type Handler<Request> = ((request: Request) => Promise<HttpResponse>) | JsonHandler<Request>;

/** What it takes to answer anything at all. */
export interface Edge {
  log: Log;
  newId(): string;
  /** Of a stage with a front of its own; left out, the API is called directly. */
  comesThroughFront?: ComesThroughFront;
}

/** Of a route that is not public: who calls, and what is left of a call that was refused. */
export interface Guard {
  /** @throws {Refusal} unauthorized */
  authenticate(request: HttpRequest): Promise<Caller>;
  refused(caller: Caller, request: HttpRequest, status: number): Promise<void>;
}

/** What is around the answer of a route. */
export interface Around {
  /** Of a route that is not public. */
  guard?: Guard | undefined;
  /** Called with each answer before it goes out. @param caller undefined for nobody who is known */
  ended?(request: HttpRequest, status: number, caller: Caller | undefined): Promise<void>;
}

/** What the middleware adds to an event on its way in. */
type Event = APIGatewayProxyEventV2 & { accepted?: HttpRequest; caller?: Caller };

/**
 * One route as a Lambda handler: trace, authenticate, parse, call, respond. Every error becomes an
 * OperationOutcome, and every answer bears the trace id.
 * @param form says whether the body is JSON
 */
export function routeHandler(
  { log, newId }: Edge,
  form: Handler<never>,
  answer: (request: HttpRequest & { body?: unknown }) => Promise<HttpResponse>,
  { guard, ended }: Around = {},
): LambdaHandler {
  const lambda = middy<Event, HttpResponse>();
  lambda.before(async ({ event }) => {
    const request = readRequest(event, traceIdOf(event.headers, newId));
    event.accepted = request;
    if (guard) event.caller = await guard.authenticate(request);
    requireReadable(request);
    requireProducible(request);
  });
  if (typeof form !== 'function') lambda.use(jsonBody(form));
  lambda.onError(async (failed) => {
    const { accepted, caller } = failed.event;
    const response = errorResponse(failed.error, log, accepted?.traceId ?? newId());
    failed.response = response;
    if (accepted && caller) await guard?.refused(caller, accepted, Number(response.statusCode));
  });
  lambda.handler(async ({ accepted, caller, body }: Event) => {
    if (!accepted) throw new Error('The request has not been read');
    const response = await answer({ ...accepted, ...(caller ? { caller } : {}), body });
    if (caller && !caller.admission.isGranted) throw new AnsweredUnadmitted(accepted.route);
    return response;
  });
  return async (event: Event, context) => {
    const startedMs = performance.now();
    const response = await lambda(event, context);
    log.measure?.('Latency', Math.round(performance.now() - startedMs));
    const { accepted, caller } = event;
    const { idleSeconds, emergencySeconds } = caller?.admission ?? {};
    if (accepted) await ended?.(accepted, Number(response.statusCode), caller);
    return {
      ...response,
      headers: {
        ...response.headers,
        'x-trace-id': accepted?.traceId ?? '',
        ...(idleSeconds === undefined ? {} : { 'x-idle-seconds': String(idleSeconds) }),
        ...(emergencySeconds === undefined ? {} : { 'x-emergency-seconds': String(emergencySeconds) }),
      },
    };
  };
}

/** Calls a route's handler in its form. */
export function call<Request extends { body?: unknown }>(
  handler: Handler<Request>,
  request: Request,
): Promise<HttpResponse> {
  return typeof handler === 'function'
    ? handler(request)
    : handler.handle({ ...request, body: request.body });
}

/** @throws {Refusal} too-large, unsupported-media-type; invalid for who means to act as somebody else */
function requireReadable({ bodyBytes, headers }: HttpRequest): void {
  // To leave it out would carry the request out with the caller's own rights, which are often more.
  if (headers['x-medplum-on-behalf-of'] !== undefined) {
    throw new Refusal('invalid', 'X-Medplum-On-Behalf-Of is not supported');
  }
  if (bodyBytes > longestBodyBytes) throw new Refusal('too-large', 'The body is longer than 4 MiB');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Refusal('unsupported-media-type', 'Compressed bodies are not accepted');
  }
}

/** An operation has answered without asking whether the caller still has the route's right. */
class AnsweredUnadmitted extends Error {
  constructor(route: string) {
    super(`${route} answered a caller whom it had not admitted`);
    this.name = 'AnsweredUnadmitted';
  }
}
