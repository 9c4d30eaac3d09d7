import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { allRoutes, type FunctionName, functionNames } from '../../../functions/routes.ts';
import { matchRoute } from '../../../shared/carry/http/routes.ts';
import { reservedFor } from '../../../shared/carry/shares.ts';
import { lambdaContext, longestPayloadBytes } from '../context.ts';
import {
  answerOf,
  buildEvent,
  decodedPath,
  type GatewayAnswer,
  gatewayAnswer,
  loopbackOrigin,
  preflight,
  type ReceivedRequest,
  withCors,
} from './http-api.ts';
import { type Listening, listen, readBody } from './listen.ts';

export type ApiHandler = (event: APIGatewayProxyEventV2, context: Context) => Promise<unknown>;

/** Answers what only a laptop serves (the mailbox, the app's files); undefined leaves it to the routes. */
export type LocalPage = (request: ReceivedRequest) => Promise<GatewayAnswer | undefined>;

interface GatewayOptions {
  /** 0 for any free one. */
  port: number;
  loadHandler(name: FunctionName): Promise<ApiHandler>;
  timeouts: {
    /** The gateway's own patience, in ms. */
    integrationMs: number;
    functionMs(name: FunctionName): number;
  };
  /** Of each function at once; as many as there are when left out. */
  executions?: Executions;
  pages?: readonly LocalPage[];
  /** What the caller is not told: whoever runs the stack should be. */
  onFault(error: Error): void;
}

const longestBodyBytes = 10 * 1024 * 1024;
/** Request line and headers together. */
const longestHeadBytes = 10_240;
/** Below this no body fills a payload, however much its escapes add. */
const surelyFitsCharacters = 1_000_000;

/**
 * API Gateway on a laptop: the same routes, the same events, the same refusals. What it refuses
 * itself has a `{message}` body; everything else a handler has said.
 */
export function startGateway(options: GatewayOptions): Promise<Listening> {
  return listen(options.port, (request, response) => {
    const requestId = randomBytes(11).toString('base64');
    // On AWS a stage names its origins; here they are the pages that this machine serves.
    const origin = loopbackOrigin(request);
    const isPreflight = origin && request.method === 'OPTIONS';
    void (isPreflight ? Promise.resolve(preflight()) : answer(options, request, requestId))
      .catch((error: unknown) => fault(options, error))
      .then((found) => send(options, response, requestId, origin ? withCors(found, origin) : found));
  });
}

async function answer(
  options: GatewayOptions,
  incoming: IncomingMessage,
  requestId: string,
): Promise<GatewayAnswer> {
  const { method = 'GET', url: target = '/', httpVersion, rawHeaders, socket } = incoming;
  const body = await readBody(incoming, longestBodyBytes);
  const headBytes = rawHeaders.reduce((sum, text) => sum + text.length, method.length + target.length);
  if (headBytes > longestHeadBytes) return gatewayAnswer(431, 'Request Header Fields Too Large');
  if (!body) return gatewayAnswer(413, 'Request Entity Too Large');
  const request: ReceivedRequest = {
    ...{ method, target, httpVersion, rawHeaders, ...(body.length > 0 ? { body } : {}) },
    sourceIp: socket.remoteAddress ?? '127.0.0.1',
    port: socket.localPort ?? 0,
  };
  for (const page of options.pages ?? []) {
    const found = await page(request);
    if (found) return found;
  }
  const path = decodedPath(target);
  if (!path?.startsWith('/')) return gatewayAnswer(400, 'Bad Request');
  const matched = matchRoute(allRoutes, method, path);
  if (!matched) return gatewayAnswer(404, 'Not Found');
  const atMs = Date.now();
  const traceId = `Root=1-${Math.floor(atMs / 1000).toString(16)}-${randomBytes(12).toString('hex')}`;
  const event = buildEvent(request, path, matched, { requestId, traceId, atMs });
  const mayNotFit = (event.body?.length ?? 0) > surelyFitsCharacters;
  return mayNotFit && Buffer.byteLength(JSON.stringify(event)) > longestPayloadBytes
    ? gatewayAnswer(413, 'Request Entity Too Large')
    : integrate(options, matched.route.function, event);
}

/**
 * Calls the handler as Lambda would and waits for it as API Gateway would. Starting the function is not of its
 * time, and on a laptop, where the app may have to be built first, not of the gateway's either.
 */
async function integrate(
  options: GatewayOptions,
  name: FunctionName,
  event: APIGatewayProxyEventV2,
): Promise<GatewayAnswer> {
  const { loadHandler, timeouts } = options;
  const functionMs = timeouts.functionMs(name);
  const handler = await loadHandler(name).catch((error: unknown) => fault(options, error));
  if (typeof handler !== 'function') return handler;
  const end = options.executions ? options.executions(name) : () => undefined;
  // So API Gateway answers where Lambda throttles: it does not wait for a free one.
  if (!end) return gatewayAnswer(503, 'Service Unavailable');
  const { promise, resolve } = Promise.withResolvers<GatewayAnswer>();
  const timedOut = () => fault(options, new Error(`${name}: timed out after ${functionMs} ms`));
  const timers = [
    setTimeout(() => resolve(timedOut()), functionMs),
    setTimeout(() => resolve(gatewayAnswer(503, 'Service Unavailable')), timeouts.integrationMs),
  ];
  const call = async () => {
    const result = await handler(event, lambdaContext(`portico-${name}`, functionMs));
    const payload = JSON.stringify(result ?? null);
    if (Buffer.byteLength(payload) > longestPayloadBytes) throw new Error(`${name}: response too large`);
    return answerOf(payload);
  };
  try {
    return await Promise.race([call().catch((error: unknown) => fault(options, error)), promise]);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    end();
  }
}

function fault({ onFault }: GatewayOptions, error: unknown): GatewayAnswer {
  onFault(error instanceof Error ? error : new Error(String(error)));
  return gatewayAnswer(500, 'Internal Server Error');
}

function send(
  options: GatewayOptions,
  response: ServerResponse,
  requestId: string,
  answer: GatewayAnswer,
): void {
  const { statusCode, headers, body } = answer;
  const hasBody = statusCode !== 204 && statusCode !== 304;
  const own: [string, string][] = [['apigw-requestid', requestId]];
  if (hasBody) own.push(['content-length', String(body.length)]);
  try {
    response.writeHead(statusCode, [...headers, ...own].flat());
    response.end(hasBody ? body : undefined);
  } catch (error) {
    // A header that HTTP cannot carry: nothing has been sent.
    send(options, response, requestId, fault(options, error));
  }
}

/** @returns what ends the execution; undefined when there are as many as the function has at once: nothing has run */
type Executions = (name: FunctionName) => (() => void) | undefined;

/**
 * As many executions at once as Lambda would have of each function in an account: what is reserved for it, or what
 * all those have together for which nothing is.
 */
export function executions(accountConcurrency: number): Executions {
  const reserved = new Map(functionNames.map((name) => [name, reservedFor(name, accountConcurrency)]));
  const kept = [...reserved.values()].reduce<number>((sum, own = 0) => sum + own, 0);
  const common = accountConcurrency - kept - (reservedFor('jobs', accountConcurrency) ?? 0);
  const running = new Map<FunctionName | undefined, number>();
  return (name) => {
    const own = reserved.get(name);
    const pool = own === undefined ? undefined : name;
    const count = running.get(pool) ?? 0;
    if (count >= (own ?? common)) return undefined;
    running.set(pool, count + 1);
    return () => void running.set(pool, (running.get(pool) ?? 1) - 1);
  };
}
