import { isIP } from 'node:net';
import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { requireModest } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import { type Disclosure, newDisclosure } from '../disclosure.ts';
import { originHeader } from '../keys/origin-secret.ts';
import type { HttpResponse } from './response.ts';

/**
 * From where a request comes, as far as attempts are counted by it: the address that called the outermost
 * hop which the stage trusts, an IPv6 one by its /64, which is what one customer of a provider has.
 * @param of.sourceIp who called API Gateway
 * @param of.forwardedFor `X-Forwarded-For`: each hop adds whom it was called by at the end, API Gateway last
 * @param trustedHops how many proxies of the stage's own stand before API Gateway; what else the header says
 *   is the caller's own word
 */
export function sourceOf(
  { sourceIp, forwardedFor = '' }: { sourceIp: string; forwardedFor?: string | undefined },
  trustedHops: number,
): string {
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  const named = trustedHops === 0 ? undefined : hops[hops.length - 1 - trustedHops];
  return networkOf(named) ?? networkOf(sourceIp) ?? sourceIp;
}

/** Undefined for what is no address. */
function networkOf(text: string | undefined): string | undefined {
  const family = isIP(text ?? '');
  if (text === undefined || family === 0) return undefined;
  if (family === 4) return text;
  // The URL parser writes an address in its one short form, IPv4 inside it as two groups.
  const short = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const groups = expand(short);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

function expand(short: string): number[] {
  const [before = '', after] = short.split('::');
  const groups = (part: string) =>
    part
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [head, tail] = [groups(before), groups(after ?? '')];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

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
  /** From where it comes, as `sourceOf` says. */
  source: string;
  /** When API Gateway received the request, ms since the epoch. */
  receivedAtMs: number;
  traceId: string;
  /** What its answer shows. */
  disclosure: Disclosure;
}

/** @param trustedHops proxies of the stage's own before API Gateway */
export function readRequest(
  event: APIGatewayProxyEventV2,
  traceId: string,
  trustedHops: number,
): HttpRequest {
  const { body, isBase64Encoded, pathParameters = {} } = event;
  // Bots are given the headers: the front's proof is not among them.
  const { [originHeader]: _, ...headers } = event.headers;
  const { method, sourceIp } = event.requestContext.http;
  const encoding = isBase64Encoded ? 'base64' : 'utf8';
  return {
    method,
    rawPath: event.rawPath,
    route: event.routeKey,
    params: Object.fromEntries(Object.entries(pathParameters).map(([name, value]) => [name, value ?? ''])),
    // A request line has some kilobytes.
    query: new URLSearchParams(event.rawQueryString),
    headers,
    cookie: (name) => event.cookies?.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1),
    bodyBytes: Buffer.byteLength(body ?? '', encoding),
    bytes: () => (body === undefined ? undefined : Buffer.from(body, encoding)),
    source: sourceOf({ sourceIp, forwardedFor: headers['x-forwarded-for'] }, trustedHops),
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

/** A route's handler that is given the body as JSON.parse reads it. */
export interface JsonHandler<Request> {
  /** False when the route may be called without a body: then `body` is undefined. */
  isRequired: boolean;
  handle(request: Request & { body: unknown }): Promise<HttpResponse>;
}

/** A route that takes JSON. */
export function json<Request>(handle: JsonHandler<Request>['handle']): JsonHandler<Request> {
  return { isRequired: true, handle };
}

/** A route that takes JSON, or no body. */
export function optionalJson<Request>(handle: JsonHandler<Request>['handle']): JsonHandler<Request> {
  return { isRequired: false, handle };
}

/** Middleware that puts the parsed body where the event had its text. */
export function jsonBody({ isRequired }: { isRequired: boolean }): MiddlewareObj<APIGatewayProxyEventV2> {
  const parser = httpJsonBodyParser();
  return {
    before(request) {
      const { body, isBase64Encoded } = request.event;
      if (body === undefined && !isRequired) return;
      requireModest(decodeUtf8(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')));
      return parser.before?.(request as never);
    },
  };
}

const jsonType = /^application\/(?:[a-z0-9.-]+\+)?json$/;

/**
 * The JSON of a body that an operation reads itself.
 * @param parse throws on malformed JSON
 * @throws {Refusal} unsupported-media-type; invalid when malformed, not UTF-8, or nested too deep
 */
export function parseJsonBody(
  bytes: Buffer | undefined,
  contentType: string | undefined,
  parse: (text: string) => unknown,
): unknown {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.find((one) => one.trim().startsWith('charset='))?.split('=')[1];
  if (!jsonType.test(type.trim()) || (charset && !/^"?(utf-8|us-ascii)"?$/.test(charset.trim()))) {
    throw new Refusal(
      'unsupported-media-type',
      'Content-Type must be application/json or application/fhir+json',
    );
  }
  const text = bytes === undefined ? '' : decodeUtf8(bytes);
  requireModest(text);
  try {
    return parse(text);
  } catch {
    throw new Refusal('invalid', 'Content could not be parsed');
  }
}

const isExportFile = /\/bulkdata\/export\/\{id\}\/\{file\}$/;

/** Media ranges that JSON answers. */
const ranges = new Set(['*/*', 'application/*', 'application/json', 'application/fhir+json', 'text/json']);
/** What `_format` may say (R4 http, content types); a plus sign in a query string may arrive as a space. */
const formats = new Set(['json', 'application/json', 'application/fhir+json', 'text/json']);

/**
 * R4 http, content types: who accepts nothing that the FHIR API speaks, JSON of R4, is told so before
 * anything is done. `_format` is asked instead of `Accept`. A Binary, a file of an export, and what a Bot answers,
 * have types of their own.
 * @throws {Refusal} not-acceptable; unsupported-media-type for a body of another FHIR release
 */
export function requireProducible({ method, route, params, query, headers }: HttpRequest): void {
  if (!/^[A-Z]+ \/fhir\/R4(?:\/|$)/.test(route) || route.endsWith('/$execute')) return;
  if (isOtherRelease(headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'The FHIR version of the body must be 4.0');
  }
  if (method === 'GET' && (params.resourceType === 'Binary' || isExportFile.test(route))) return;
  const format = query.get('_format');
  const isAccepted =
    format === null
      ? (headers.accept || '*/*').split(',').some(isRange)
      : formats.has(mediaType(format).replace(' ', '+')) && !isOtherRelease(format);
  if (isAccepted) return;
  throw new Refusal('not-acceptable', 'Answers are application/fhir+json of FHIR 4.0');
}

function isRange(range: string): boolean {
  return ranges.has(mediaType(range)) && !isOtherRelease(range) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range);
}

function mediaType(text: string): string {
  return parseMediaType(text)?.type ?? '';
}

function isOtherRelease(type: string): boolean {
  const version = /;\s*fhirVersion\s*=\s*"?([^";,\s]*)/i.exec(type)?.[1];
  return version !== undefined && !/^4\.0(?:\.|$)/.test(version);
}

/** A Content-Type: the type in lower case, and its charset parameter (RFC 9110 section 8.3). */
export interface MediaType {
  type: string;
  charset: string | undefined;
}

export function parseMediaType(header: string | undefined): MediaType | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const [type = '', ...parameters] = header.split(';');
  const charset = parameters
    .map((parameter) => /^charset\s*=\s*"?([^"\s]*)"?$/i.exec(parameter.trim())?.[1])
    .find((value) => value !== undefined);
  return { type: type.trim().toLowerCase(), charset };
}
