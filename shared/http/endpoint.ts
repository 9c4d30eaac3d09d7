import middy from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { type Attempt, recordRefused } from '../audit/refused.ts';
import { type Caller, unauthorized } from '../auth/token.ts';
import { Refusal } from '../refusal.ts';
import type { Services } from '../services.ts';
import { authenticate } from './authentication.ts';
import { errorResponse } from './errors.ts';
import { bodySize, type HttpRequest, readRequest, traceIdOf } from './request.ts';
import type { HttpResponse } from './response.ts';

/** How one operation meets HTTP: its input from a request, its answer from a result. */
export interface Endpoint {
  access: 'public' | 'token';
  /**
   * `json`: @middy/http-json-body-parser reads the body; `optional-json`: the same, when there is one;
   * `raw`: the operation reads the bytes itself.
   */
  body: 'json' | 'optional-json' | 'raw';
  handle(request: HttpRequest, caller: Caller | undefined): Promise<HttpResponse>;
}

export type LambdaHandler = (event: APIGatewayProxyEventV2, context: Context) => Promise<HttpResponse>;

/** What the middleware adds to an event on its way in. */
type Event = APIGatewayProxyEventV2 & { traceId?: string; caller?: Caller };

/** SPEC: request bodies are at most 4 MiB decoded. */
const longestBodyBytes = 4 * 1024 * 1024;

/**
 * One route as a Lambda handler: trace, authenticate, parse, call, respond. Every error becomes an
 * OperationOutcome. An operation never sees an event and never builds a response.
 */
export function lambdaHandler(services: Services, endpoint: Endpoint): LambdaHandler {
  const handler = middy<Event, HttpResponse>();
  handler.before(async ({ event }) => {
    event.traceId = traceIdOf(event.headers, services.newId);
    if (endpoint.access === 'token')
      event.caller = await authenticate(services, readRequest(event, event.traceId));
    if (bodySize(event) > longestBodyBytes) throw new Refusal('too-large', 'The body is longer than 4 MiB');
    if ((event.headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new Refusal('unsupported-media-type', 'Compressed bodies are not accepted');
    }
  });
  const parser = httpJsonBodyParser();
  if (endpoint.body === 'json') handler.use(parser);
  if (endpoint.body === 'optional-json')
    handler.before((request) => (request.event.body ? parser.before?.(request as never) : undefined));
  handler.onError(async (request) => {
    const { event } = request;
    const response = errorResponse(request.error, services.log, event.traceId ?? services.newId());
    request.response = response;
    if (event.caller) await recordRefused(services, event.caller, attemptOf(event, response.statusCode));
  });
  // Last, so that it runs first on the way out and every answer bears the trace id.
  handler.handler(async (event: Event) => {
    const traceId = event.traceId ?? services.newId();
    return endpoint.handle(readRequest(event, traceId), event.caller);
  });
  return async (event, context) => {
    const response = await handler(event, context);
    return { ...response, headers: { ...response.headers, 'x-trace-id': (event as Event).traceId ?? '' } };
  };
}

function attemptOf(event: Event, status: number | undefined): Attempt {
  const [method = '', route = ''] = event.routeKey.split(' ');
  return { method, route, parameters: event.pathParameters ?? {}, status: Number(status) };
}

/** An endpoint that needs an access token: its operation is given the caller. */
export function authenticated<Result>(
  row: { access: 'token' },
  body: Endpoint['body'],
  run: (caller: Caller, request: HttpRequest) => Promise<Result>,
  answer: (result: Result, request: HttpRequest) => HttpResponse,
): Endpoint {
  return {
    access: row.access,
    body,
    async handle(request, caller) {
      if (!caller) throw unauthorized('no caller');
      return answer(await run(caller, request), request);
    },
  };
}

/** An endpoint that checks its own credentials, or needs none. */
export function open<Result>(
  row: { access: 'public' },
  body: Endpoint['body'],
  run: (request: HttpRequest) => Promise<Result>,
  answer: (result: Result, request: HttpRequest) => HttpResponse,
): Endpoint {
  return { access: row.access, body, handle: async (request) => answer(await run(request), request) };
}
