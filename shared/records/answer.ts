import { allRoutes } from '../../functions/routes.ts';
import { Refusal } from '../base/refusal.ts';
import { plainMeta, type Resource } from '../base/resource.ts';
import { binaryResponse } from '../bots/run/execute-http.ts';
import { inlineTypes } from '../bots/run/output.ts';
import { noteShown } from '../carry/disclosure.ts';
import type { HttpRequest } from '../carry/http/request.ts';
import {
  allOk,
  emptyResponse,
  fhirResponse,
  type HttpResponse,
  resourceResponse,
} from '../carry/http/response.ts';
import { locationOf, outcomeStatus } from './bundle/run-bundle.ts';
import { isHad, type ReadBinary, withData } from './read/read-resource.ts';
import type { WriteOutcome } from './write/write.ts';

/**
 * A resource, or a Bundle with all in it, as the caller wants it: elements of `meta` that R4 does not know
 * are shown to who asks with `X-Medplum: extended`.
 */
export function asAsked<T extends object>(body: T, request: Pick<HttpRequest, 'headers'>): T {
  return isExtended(request) ? body : plain(body);
}

export function isExtended({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return headers['x-medplum']?.trim().toLowerCase() === 'extended';
}

function plain<T extends { meta?: object; entry?: readonly { resource?: object }[] }>(body: T): T {
  const { meta, entry } = body;
  const entries = entry?.map((one) => (one.resource ? { ...one, resource: plain(one.resource) } : one));
  return { ...body, ...(meta ? { meta: plainMeta(meta) } : {}), ...(entries ? { entry: entries } : {}) };
}

/** What a write is answered (R4 http, create, update, delete; `Prefer: return`). */
export function answerWrite(baseUrl: string, outcome: WriteOutcome, request: HttpRequest): HttpResponse {
  const { kind, resource, shown } = outcome;
  const status = outcomeStatus[kind];
  if (!resource) return fhirResponse(status, allOk());
  const location = locationOf(baseUrl, outcome);
  const headers = { location, 'content-location': location };
  const wanted = /(?:^|[,;\s])return=(minimal|representation|OperationOutcome)/i.exec(
    request.headers.prefer ?? '',
  );
  const versioned = resourceResponse(status, asAsked(withUrl(baseUrl, shown ?? resource), request), headers);
  // Whoever may write but not read is answered as if nothing had been wanted.
  switch (shown ? wanted?.[1]?.toLowerCase() : 'minimal') {
    case 'minimal':
      return emptyResponse(status, versionHeaders(versioned));
    case 'operationoutcome':
      return fhirResponse(status, allOk(), versionHeaders(versioned));
    default:
      noteShown(request.disclosure, resource);
      request.disclosure.isOfChange = kind !== 'unchanged';
      return versioned;
  }
}

/** A Binary is told by clients where its bytes are. */
function withUrl(baseUrl: string, resource: Resource): Resource {
  if (resource.resourceType !== 'Binary') return resource;
  return { ...resource, url: `${baseUrl}/fhir/R4/Binary/${resource.id}` };
}

function versionHeaders({ headers = {} }: HttpResponse): Record<string, string> {
  const named = ['etag', 'last-modified', 'location', 'content-location'].filter((name) => name in headers);
  return Object.fromEntries(named.map((name) => [name, String(headers[name])]));
}

/** A resource that was read; 304 when the caller has this version already. */
export function answerRead(
  resource: Parameters<typeof resourceResponse>[1],
  request: HttpRequest,
): HttpResponse {
  noteShown(request.disclosure, resource);
  const answer = resourceResponse(200, asAsked(resource, request));
  const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = request.headers;
  return isHad(resource, { ifNoneMatch, ifModifiedSince })
    ? { ...emptyResponse(304), headers: versionHeaders(answer) }
    : answer;
}

/** The bytes, as a browser may save but hardly ever show them; FHIR JSON to who asks for it first. */
export function answerBinary(read: ReadBinary, request: HttpRequest): HttpResponse {
  const accept = (request.headers.accept ?? '').trim();
  if (/^application\/(fhir\+)?json/i.test(accept)) return answerRead(withData(read), request);
  noteShown(request.disclosure, read.resource);
  const mediaType = String(read.resource.contentType);
  const safe = /^[\x20-\x7e]+$/.test(mediaType) ? mediaType : 'application/octet-stream';
  const isInline = inlineTypes.has(mediaType.split(';')[0]?.trim().toLowerCase() ?? '');
  const answer = binaryResponse(read.bytes, safe, isInline);
  return {
    ...answer,
    headers: { ...answer.headers, ...versionHeaders(resourceResponse(200, read.resource)) },
  };
}

/** What a path without a route is answered: 405 when it exists under another method, else 404. */
export function refuseUnknown(method: string, path: string): Refusal {
  // FHIR Bulk Data knows exports of less than all: who asks is told what there is instead.
  if (path.endsWith('/$export'))
    return new Refusal(
      'not-found',
      'There is no export of Patients or of a Group: GET fhir/R4/$export is that of the Project, Patient/<id>/$everything that of one Patient',
    );
  const allow = methodsOf(path).filter((one) => one !== method);
  if (allow.length === 0) return new Refusal('not-found', 'Not found');
  return new Refusal('method-not-allowed', `${method} is not allowed here`, { allow });
}

export function refuseUnknownType(type: string): Refusal {
  return new Refusal('not-found', `${type} is not a resource type`);
}

/** Methods of the routes that match best: a literal part wins over a parameter, as at the gateway. */
function methodsOf(path: string): string[] {
  const segments = path.split('/');
  const matching = allRoutes.filter(({ path: pattern }) => matches(pattern.split('/'), segments));
  const literal = Math.max(0, ...matching.map((route) => literals(route.path)));
  const best = matching.filter((route) => literals(route.path) === literal);
  return [...new Set(best.map(({ method }) => method))];
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, i) => (part.startsWith('{') ? segments[i] !== '' : part === segments[i]))
  );
}

function literals(path: string): number {
  return path.split('/').filter((part) => !part.startsWith('{')).length;
}
