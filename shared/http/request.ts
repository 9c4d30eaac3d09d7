import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Disclosure, newDisclosure } from '../disclosure.ts';
import { originHeader } from '../keys/origin-secret.ts';
import { Refusal } from '../refusal.ts';

/** An HTTP API event as operations' handlers read it. */
export interface HttpRequest {
  method: string;
  /** Decoded path; for messages and matching only. */
  rawPath: string;
  /** As in the route table: `GET /fhir/R4/{resourceType}/{id}`, or `$default`. */
  route: string;
  /** Of the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** Parsed from the raw query string: the event's own parameters lose repeated keys. */
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string | undefined>;
  /** The value of a cookie. */
  cookie(name: string): string | undefined;
  /** Size of the decoded body; 0 without one. */
  bodyBytes: number;
  /** The body itself; undefined when the request has none. */
  bytes(): Buffer | undefined;
  sourceIp: string;
  /** When API Gateway received the request, ms since the epoch. */
  receivedAtMs: number;
  traceId: string;
  /** What its answer shows. */
  disclosure: Disclosure;
}

export function readRequest(event: APIGatewayProxyEventV2, traceId: string): HttpRequest {
  const { body, isBase64Encoded, pathParameters = {} } = event;
  // Bots are given the headers: the front's proof is not among them.
  const { [originHeader]: _, ...headers } = event.headers;
  const encoding = isBase64Encoded ? 'base64' : 'utf8';
  return {
    method: event.requestContext.http.method,
    rawPath: event.rawPath,
    route: event.routeKey,
    params: Object.fromEntries(Object.entries(pathParameters).map(([name, value]) => [name, value ?? ''])),
    query: new URLSearchParams(event.rawQueryString),
    headers,
    cookie: (name) => event.cookies?.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1),
    bodyBytes: Buffer.byteLength(body ?? '', encoding),
    bytes: () => (body === undefined ? undefined : Buffer.from(body, encoding)),
    sourceIp: event.requestContext.http.sourceIp,
    receivedAtMs: event.requestContext.timeEpoch,
    traceId,
    disclosure: newDisclosure(),
  };
}

/** A UUID, or the trace-id of a traceparent, which calls of Bots carry on. */
const traceId = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$/i;
const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's `X-Trace-Id` or W3C `traceparent` when well-formed, else a new id. */
export function traceIdOf(headers: Record<string, string | undefined>, newId: () => string): string {
  const own = headers['x-trace-id'];
  if (own && traceId.test(own)) return own;
  return traceparent.exec(headers.traceparent ?? '')?.[1] ?? newId();
}

/** Strict UTF-8 without a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('invalid', 'The body is not valid UTF-8');
  }
}
