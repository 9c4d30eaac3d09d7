import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isObject } from '../../../shared/base/values.ts';
import type { MatchedRoute } from '../../../shared/carry/http/routes.ts';
import { cors } from '../../cors.ts';

/** A request as node:http received it. */
export interface ReceivedRequest {
  method: string;
  /** Path and query string as sent. */
  target: string;
  /** `1.1` */
  httpVersion: string;
  /** Names and values in turn, as sent. */
  rawHeaders: readonly string[];
  /** Absent when the request has none or an empty one. */
  body?: Buffer;
  sourceIp: string;
  port: number;
}

/** What the gateway adds of its own. */
interface RequestStamp {
  requestId: string;
  /** `Root=1-<8 hex>-<24 hex>` */
  traceId: string;
  atMs: number;
}

/** The value of a header as sent, under its lower-case name; the first one of several. */
export function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  const index = rawHeaders.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name);
  return index < 0 ? undefined : rawHeaders[index + 1];
}

/** Only these arrive as text, everything else as base64: fhir+json, HL7 and forms too. */
const textTypes = /^(text\/.*|application\/(json|xml|javascript))$/;

/** Meant for one connection; the gateway opens its own to the integration. */
const hopHeaders = /^(?:connection|keep-alive|proxy-connection|te|transfer-encoding|upgrade)$/;

/** The path of a target, decoded as `rawPath` is; undefined when its escapes are not UTF-8. */
export function decodedPath(target: string): string | undefined {
  try {
    return decodeURIComponent(target.split('?', 1)[0] ?? '');
  } catch {
    return undefined;
  }
}

/** Builds the event of an HTTP API, payload format 2.0. No I/O, no clock. */
export function buildEvent(
  request: ReceivedRequest,
  rawPath: string,
  matched: MatchedRoute,
  stamp: RequestStamp,
): APIGatewayProxyEventV2 {
  const { headers, cookies } = joinHeaders(request, stamp);
  const queryAt = request.target.indexOf('?');
  const rawQueryString = queryAt < 0 ? '' : request.target.slice(queryAt + 1);
  const domainName = (headers.host ?? 'localhost').replace(/:\d+$/, '');
  return {
    version: '2.0',
    routeKey: matched.routeKey,
    rawPath,
    rawQueryString,
    ...(cookies.length > 0 ? { cookies } : {}),
    headers,
    ...(rawQueryString ? { queryStringParameters: joined(new URLSearchParams(rawQueryString)) } : {}),
    requestContext: {
      ...{ accountId: '000000000000', apiId: 'local', stage: '$default', domainName },
      domainPrefix: domainName.split('.')[0] ?? domainName,
      http: {
        method: request.method,
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      ...{ requestId: stamp.requestId, routeKey: matched.routeKey },
      ...{ time: accessLogTime(stamp.atMs), timeEpoch: stamp.atMs },
    },
    ...(Object.keys(matched.pathParameters).length > 0 ? { pathParameters: matched.pathParameters } : {}),
    ...bodyOf(request.body, headers['content-type']),
  };
}

function bodyOf(body: Buffer | undefined, contentType = ''): { body?: string; isBase64Encoded: boolean } {
  if (!body) return { isBase64Encoded: false };
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isText = textTypes.test(mediaType);
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText };
}

function joinHeaders({ rawHeaders, body, port, sourceIp }: ReceivedRequest, stamp: RequestStamp) {
  const pairs = rawHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? '']] : [],
  );
  const cookies = pairs.flatMap(([name, value]) => (name === 'cookie' ? value.split(';') : []));
  const kept = pairs.filter(([name]) => name !== 'cookie' && !hopHeaders.test(name));
  const headers = joined([...kept, ['x-forwarded-for', sourceIp]]);
  // HTTP APIs give a request that says it is empty a type.
  if (headers['content-length'] === '0') headers['content-type'] ??= 'application/octet-stream';
  Object.assign(headers, {
    'content-length': String(body?.length ?? 0),
    'x-amzn-trace-id': stamp.traceId,
    'x-forwarded-port': String(port),
    'x-forwarded-proto': 'http',
  });
  return { headers, cookies: cookies.map((cookie) => cookie.trim()).filter(Boolean) };
}

/** What stands more than once is joined with commas. */
function joined(pairs: Iterable<[string, string]>): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(values);
}

/** `12/Mar/2020:19:03:58 +0000` */
function accessLogTime(atMs: number): string {
  const [, day, month, year, time] = new Date(atMs).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}

/** A response as node:http sends it. */
export interface GatewayAnswer {
  statusCode: number;
  /** A name may stand more than once (set-cookie). */
  headers: [name: string, value: string][];
  body: Buffer;
}

/** The gateway computes these itself. */
const ownHeaders = /^(?:connection|content-length|date|keep-alive|transfer-encoding)$/;

/** What the gateway says itself, before or instead of a handler. */
export function gatewayAnswer(statusCode: number, message: string): GatewayAnswer {
  return jsonAnswer(statusCode, JSON.stringify({ message }));
}

export function jsonAnswer(statusCode: number, text: string): GatewayAnswer {
  return { statusCode, headers: [['content-type', 'application/json']], body: Buffer.from(text) };
}

/**
 * Reads a handler's result as an HTTP API does (payload format 2.0): an object with `statusCode` is
 * a response, every other value is itself the JSON body of a 200; a response that is no valid one
 * is a 500. A body whose type is not said is plain text; without a body there is no type.
 * @param payload the result as Lambda serialised it
 */
export function answerOf(payload: string): GatewayAnswer {
  const result: unknown = JSON.parse(payload);
  if (!isObject(result) || !('statusCode' in result)) {
    return jsonAnswer(200, payload);
  }
  const { headers = {}, cookies = [], body = '', isBase64Encoded = false } = result;
  const statusCode = Number(result.statusCode);
  const isValid =
    Number.isInteger(statusCode) &&
    statusCode >= 100 &&
    statusCode <= 599 &&
    typeof body === 'string' &&
    isObject(headers) &&
    !Array.isArray(headers) &&
    Object.values(headers).every((value) => ['string', 'number', 'boolean'].includes(typeof value)) &&
    Array.isArray(cookies);
  if (!isValid) return gatewayAnswer(500, 'Internal Server Error');
  const sent = Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), String(value)])
    .filter(([name]) => !ownHeaders.test(name));
  if (body !== '' && !sent.some(([name]) => name === 'content-type'))
    sent.push(['content-type', 'text/plain; charset=utf-8']);
  return {
    statusCode,
    headers: [...sent, ...cookies.map((cookie): [string, string] => ['set-cookie', String(cookie)])],
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
}

const loopback = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const methods = 'GET,POST,PUT,PATCH,DELETE';

/** The page that a browser sends a request for, when it was served by this machine. */
export function loopbackOrigin({ rawHeaders }: Pick<ReceivedRequest, 'rawHeaders'>): string | undefined {
  const origin = headerOf(rawHeaders, 'origin');
  return origin !== undefined && loopback.test(origin) ? origin : undefined;
}

/** What API Gateway itself answers a preflight, beside the headers of every answer to such an origin. */
export function preflight(): GatewayAnswer {
  return {
    statusCode: 204,
    headers: [
      ['access-control-allow-methods', methods],
      ['access-control-allow-headers', cors.allowHeaders.join(',')],
      ['access-control-max-age', '7200'],
    ],
    body: Buffer.alloc(0),
  };
}

export function withCors(answer: GatewayAnswer, origin: string): GatewayAnswer {
  return {
    ...answer,
    headers: [
      ...answer.headers,
      ['access-control-allow-origin', origin],
      ['access-control-allow-credentials', 'true'],
      ['access-control-expose-headers', cors.exposeHeaders.join(',')],
      ['vary', 'origin'],
    ],
  };
}
