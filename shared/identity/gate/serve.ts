import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { longestBodyBytes } from '../../base/limits.ts';
import type { Log } from '../../base/log.ts';
import { Refusal } from '../../base/refusal.ts';
import { typedEntries } from '../../base/values.ts';
import { errorResponse } from '../../carry/http/errors.ts';
import {
  type HttpRequest,
  type JsonHandler,
  jsonBody,
  readRequest,
  requireProducible,
  traceIdOf,
} from '../../carry/http/request.ts';
import { guards, type HttpResponse } from '../../carry/http/response.ts';
import { type PathParams, type Right, type Row, type Rows, routeKey } from '../../carry/http/routes.ts';
import { type ComesThroughFront, originHeader } from '../../carry/keys/origin-secret.ts';
import type { Services } from '../../carry/services.ts';
import { newBudget, startCpuClock } from '../../carry/table/budget.ts';
import { meteredTable } from '../../carry/table/metered.ts';
import { recordRefused } from '../audit/record.ts';
import { prepareRecord, recordAccess } from '../audit/record-access.ts';
import {
  type Caller,
  type Claims,
  callerOf,
  isRunToken,
  unauthorized,
  verifyAccessToken,
  verifyRunToken,
} from './access-token.ts';

/** What the Bearer token says of its caller (RFC 6750 section 2.1). @throws {Refusal} unauthorized */
async function authenticate(
  services: Services,
  request: Pick<HttpRequest, 'headers' | 'route'>,
): Promise<Claims> {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (!token) throw unauthorized('no bearer token');
  if (isRunToken(token)) return verifyRun(services, token, request.route);
  const { publicKeys, baseUrl, memory } = services;
  return verifyAccessToken(publicKeys, token, { baseUrl, nowMs: services.now(), verified: memory.tokens });
}

/** The caller of a public route that knows its callers when they show a token. @throws {Refusal} unauthorized */
export async function callerIfAny(
  services: Services,
  request: Pick<HttpRequest, 'headers' | 'route'>,
): Promise<Caller | undefined> {
  if (request.headers.authorization === undefined) return undefined;
  return callerOf(await authenticate(services, request), 'member');
}

/**
 * A Bot's own token is good under fhir/R4, and to learn whose it is. Other routes refuse every such token alike,
 * forged ones too: most of their functions do not hold the key. A new token would not help: so it is no 401.
 */
async function verifyRun({ runTokenKeys, now }: Services, token: string, route: string): Promise<Claims> {
  if (!runTokenKeys || !forRuns.test(route)) {
    throw new Refusal('forbidden', 'Forbidden', { reason: 'a run token outside fhir/R4' });
  }
  return verifyRunToken(runTokenKeys, token, now());
}

/** Routes that a run may call. */
const forRuns = /^[A-Z]+ \/fhir\/R4(?:\/|$)|^GET \/auth\/me$|^\$default$/;

export type LambdaHandler = (event: APIGatewayProxyEventV2, context: Context) => Promise<HttpResponse>;

/** What a function does at a route. */
type Handler<Request> = ((request: Request) => Promise<HttpResponse>) | JsonHandler<Request>;

/** What it takes to answer anything at all. */
interface Edge {
  log: Log;
  newId(): string;
  /** Of a stage with a front of its own; left out, the API is called directly. */
  comesThroughFront?: ComesThroughFront;
  /** How many proxies of the stage's own stand before API Gateway; none when left out. */
  trustedHops?: number;
}

/** Of a route that is not public: who calls, and what is left of a call that was refused. */
interface Guard {
  /** @throws {Refusal} unauthorized */
  authenticate(request: HttpRequest): Promise<Caller>;
  refused(caller: Caller, request: HttpRequest, status: number): Promise<void>;
}

/** What is around the answer of a route. */
interface Around {
  /** It takes no body. */
  isBare?: boolean;
  /** Of a route that is not public. */
  guard?: Guard | undefined;
  /** Takes what the caller, or where nobody is known the source, has of the function. @throws {Refusal} throttled */
  enter?(request: HttpRequest, caller: Caller | undefined): (() => Promise<void>) | undefined;
  /** Called with each answer before it goes out. @param caller undefined for nobody who is known */
  ended?(request: HttpRequest, status: number, caller: Caller | undefined): Promise<void>;
}

/** What the middleware adds to an event on its way in. */
type Event = APIGatewayProxyEventV2 & {
  accepted?: HttpRequest;
  caller?: Caller;
  leave?: (() => Promise<void>) | undefined;
};

/**
 * One route as a Lambda handler: trace, authenticate, parse, call, respond. Every error becomes an
 * OperationOutcome, and every answer bears the trace id.
 * @param form says whether the body is JSON
 */
function routeHandler(
  { log, newId, trustedHops = 0 }: Edge,
  form: Handler<never>,
  answer: (request: HttpRequest & { body?: unknown }) => Promise<HttpResponse>,
  { guard, enter, ended, isBare }: Around = {},
): LambdaHandler {
  const lambda = middy<Event, HttpResponse>();
  lambda.before(async ({ event }) => {
    const request = readRequest(event, traceIdOf(event.headers, newId), trustedHops);
    event.accepted = request;
    if (guard) event.caller = await guard.authenticate(request);
    event.leave = enter?.(request, event.caller);
    requireReadable(request);
    if (isBare) requireNothingSent(request);
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
    if (caller) requireAsked(caller.admission, accepted.route);
    return response;
  });
  return async (event: Event, context) => {
    const startedMs = performance.now();
    const response = await lambda(event, context).finally(() => event.leave?.());
    log.measure?.('Latency', Math.round(performance.now() - startedMs));
    const { accepted, caller } = event;
    const { idleSeconds, emergencySeconds } = caller?.admission ?? {};
    if (accepted) await ended?.(accepted, Number(response.statusCode), caller);
    return {
      ...response,
      headers: {
        ...guards,
        ...response.headers,
        'x-trace-id': accepted?.traceId ?? '',
        ...(idleSeconds === undefined ? {} : { 'x-idle-seconds': String(idleSeconds) }),
        ...(emergencySeconds === undefined ? {} : { 'x-emergency-seconds': String(emergencySeconds) }),
      },
    };
  };
}

/** Calls a route's handler in its form. */
function call<Request extends { body?: unknown }>(
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

/** Clients send `{}` where they have nothing to say. @throws {Refusal} invalid */
function requireNothingSent({ bytes }: HttpRequest): void {
  const text = bytes()?.toString('utf8').trim() ?? '';
  if (!/^(?:\{\s*\}|null)?$/.test(text)) throw new Refusal('invalid', 'This request takes no body');
}

/**
 * Whether the operation that has answered asked what its row of the table of routes says.
 * @throws {AnsweredUnasked} so that what was not asked is never answered
 */
function requireAsked({ isGranted, bounds, isWithin }: Caller['admission'], route: string): void {
  if (!isGranted) throw new AnsweredUnasked(`${route} answered a caller whom it had not admitted`);
  if (bounds === 'own rights' && !isWithin)
    throw new AnsweredUnasked(`${route} did not compare what it gives with its caller's rights`);
}

class AnsweredUnasked extends Error {
  override name = 'AnsweredUnasked';
}

/** Refuses what did not come through the stage's front, if it has one: before anything of the request is read. */
export function frontDoor({ log, newId, comesThroughFront }: Edge, handler: LambdaHandler): LambdaHandler {
  if (!comesThroughFront) return handler;
  return async (event, context) => {
    if (comesThroughFront(event.headers[originHeader])) return handler(event, context);
    const traceId = traceIdOf(event.headers, newId);
    const refusal = new Refusal('forbidden', 'This API is reached by its own name only');
    const answer = errorResponse(refusal, log, traceId);
    return { ...answer, headers: { ...guards, ...answer.headers, 'x-trace-id': traceId } };
  };
}

/** A request at a row of the route table, with the parameters that its path names. */
type RequestAt<R extends Row> = Omit<HttpRequest, 'params'> & { params: PathParams<R['path']> };

type PublicRows = Readonly<Record<string, Row & { access: 'public' }>>;

/** A function that has public routes only, and neither table nor keys; see `serve` for the others. */
export function servePublic<const R extends PublicRows>(
  edge: Edge,
  rows: R,
  handlers: { readonly [Name in keyof R]: Handler<RequestAt<R[Name]>> },
): LambdaHandler {
  // The gateway has matched the path, so the request has the parameters that the row names.
  return byRoute(edge, rows, (name) => {
    const handler = handlers[name] as Handler<HttpRequest>;
    return routeHandler(edge, handler, (request) => call(handler, request));
  });
}

/** A Lambda handler for each row, behind the front door; the event says which is meant. */
function byRoute<R extends Rows>(
  edge: Edge,
  rows: R,
  handlerOf: (name: keyof R & string, row: Row) => LambdaHandler,
): LambdaHandler {
  const handlers = new Map(typedEntries(rows).map(([name, row]) => [routeKey(row), handlerOf(name, row)]));
  return frontDoor(edge, async (event, context) => {
    const handler = handlers.get(event.routeKey);
    if (!handler) throw new Error(`This function does not serve ${event.routeKey}`);
    return handler(event, context);
  });
}

/** A route's request, with its caller unless the route is public. */
type Asked<R extends Row> = RequestAt<R> &
  (R['access'] extends Right ? { caller: Caller<R['access']> } : unknown);

/** What a function does at each of its routes. */
type Handlers<R extends Rows> = { readonly [Name in keyof R]: Handler<Asked<R[Name]>> };

/** A handler without a row is an error to the compiler. */
type NoOthers<H, R> = { readonly [Name in Exclude<keyof H, keyof R>]: never };

/**
 * A function of the API: its rows of the route table, and what it does at each; one too few or too many
 * does not compile.
 * @param handlersWith what it does, made anew for each request with the services of that request. An
 *   operation never sees an event and never builds a response; when it answers a caller, `admit` has found
 *   that they have the row's right.
 */
export function serve<S extends Services, const R extends Rows, H extends Handlers<R>>(
  services: S,
  rows: R,
  handlersWith: (services: S) => H & NoOthers<H, R>,
): LambdaHandler {
  const forms = handlersWith(services);
  return byRoute(services, rows, (name, { access, isBare, ...rules }) => {
    const guard = access === 'public' ? undefined : guardOf(services, access, rules);
    // The request has what the row says: the parameters of its path, and from the guard its caller.
    const handlerWith = (own: S) => handlersWith(own)[name] as Handler<HttpRequest>;
    return routeHandler(services, forms[name], metered(services, handlerWith), {
      guard,
      isBare: isBare === true,
      enter: ({ source }, caller) =>
        services.shares?.enter(caller ? { project: caller.project } : { source }),
      // In the clear the source stands in no log.
      ended: ({ source, ...request }, status, caller) =>
        recordAccess(services, caller ?? request.disclosure.viewer, {
          ...request,
          status,
          ...(services.sealSource ? { source: services.sealSource(source) } : {}),
        }),
    });
  });
}

/** A tenth of the budget: a request that costs more is told of in the log. */
const costlyUnits = 1000;

/** Each request works on services of its own, whose table draws on the budget of that request. */
function metered<S extends Services>(
  services: S,
  handlerWith: (own: S) => Handler<HttpRequest>,
): (request: HttpRequest & { body?: unknown; caller?: Caller }) => Promise<HttpResponse> {
  return async (request) => {
    const { traceId, disclosure, caller } = request;
    const clock = startCpuClock();
    const budget = newBudget(undefined, clock.cpuMs);
    try {
      const table = meteredTable(services.table, budget);
      const own = { ...services, table, traceId, disclosure };
      const response = await call(handlerWith(own), request);
      const viewer = caller ?? disclosure.viewer;
      if (viewer) await prepareRecord(own, viewer, request);
      return response;
    } finally {
      clock.stop();
      const units = Math.round(budget.units);
      const { route } = request;
      if (units >= costlyUnits)
        services.log.info('costly request', { traceId, route, units, ...budget.spent });
    }
  };
}

function guardOf(services: Services, right: Right, rules: Pick<Row, 'signIn' | 'bounds'>): Guard {
  return {
    async authenticate(request) {
      const { projectId } = request.params;
      return callerOf(await authenticate(services, request), right, { ...rules, projectId });
    },
    refused(caller, { route: routeKey, params: parameters, disclosure }, status) {
      const [method = '', route = ''] = routeKey.split(' ');
      return recordRefused({ ...services, disclosure }, caller, [{ method, route, parameters, status }]);
    },
  };
}
