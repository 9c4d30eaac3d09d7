import { inlineTypes } from '../../shared/bot/output.ts';
import { noteShown } from '../../shared/disclosure.ts';
import { binaryResponse } from '../../shared/execute/execute-response.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { allOk } from '../../shared/http/outcome.ts';
import type { HttpRequest } from '../../shared/http/request.ts';
import {
  emptyResponse,
  fhirResponse,
  type HttpResponse,
  resourceResponse,
} from '../../shared/http/response.ts';
import { locationOf, outcomeStatus } from './bundle/outcome-entry.ts';
import { asAsked } from './extended.ts';
import { type ReadBinary, withData } from './read/read-binary.ts';
import type { Outcome } from './write/write.ts';

/** What a write is answered (R4 http, create, update, delete; `Prefer: return`). */
export function answerWrite(baseUrl: string, outcome: Outcome, request: HttpRequest): HttpResponse {
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
      return {
        ...emptyResponse(status),
        headers: { ...emptyResponse(status).headers, ...without(versioned) },
      };
    case 'operationoutcome':
      return fhirResponse(status, allOk(), without(versioned));
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

/** The headers of a version, without those of its body. */
function without({ headers = {} }: HttpResponse): Record<string, string> {
  const named = ['etag', 'last-modified', 'location', 'content-location'];
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (named.includes(name) ? [[name, String(value)]] : [])),
  );
}

/** A resource that was read; 304 when the caller has this version already. */
export function answerRead(
  resource: Parameters<typeof resourceResponse>[1],
  request: HttpRequest,
): HttpResponse {
  noteShown(request.disclosure, resource);
  const answer = resourceResponse(200, asAsked(resource, request));
  const known = request.headers['if-none-match'];
  const etag = String(answer.headers?.etag);
  return known?.split(',').some((tag) => tag.trim() === etag)
    ? { ...emptyResponse(304), headers: without(answer) }
    : answer;
}

/** The bytes, as a browser may save but hardly ever show them; FHIR JSON to who asks for it first. */
export function answerBinary(read: ReadBinary, request: HttpRequest): HttpResponse {
  const accept = (request.headers.accept ?? '').trim();
  if (/^application\/(fhir\+)?json/i.test(accept)) return answerRead(withData(read), request);
  noteShown(request.disclosure, read.resource);
  const mediaType = String(read.resource.contentType);
  const isSafe = /^[\x20-\x7e]+$/.test(mediaType) ? mediaType : 'application/octet-stream';
  const answer = binaryResponse(
    read.bytes,
    isSafe,
    inlineTypes.has(mediaType.split(';')[0]?.trim().toLowerCase() ?? ''),
  );
  return { ...answer, headers: { ...answer.headers, ...without(resourceResponse(200, read.resource)) } };
}
