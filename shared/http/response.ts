import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { allOk } from './outcome.ts';

export type HttpResponse = APIGatewayProxyStructuredResultV2;

const fhirJson = 'application/fhir+json; charset=utf-8';

/** What a stored resource, or any part of the admin API, is answered as. */
export function fhirResponse(
  status: number,
  body: object,
  headers: Record<string, string> = {},
): HttpResponse {
  return textResponse(status, stringifyJson(body), fhirJson, headers);
}

/** A resource with the headers of FHIR R4 http#versions. */
export function resourceResponse(
  status: number,
  resource: Resource,
  headers: Record<string, string> = {},
): HttpResponse {
  return fhirResponse(status, resource, {
    etag: `W/"${resource.meta.versionId}"`,
    'last-modified': new Date(resource.meta.lastUpdated).toUTCString(),
    ...headers,
  });
}

/** Work that has no result to show: 200 with an OperationOutcome when it is done. */
export async function done(work: Promise<void>): Promise<HttpResponse> {
  await work;
  return fhirResponse(200, allOk());
}

export function jsonResponse(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpResponse {
  return textResponse(status, JSON.stringify(body), 'application/json; charset=utf-8', headers);
}

export function textResponse(
  status: number,
  body: string,
  contentType: string,
  headers: Record<string, string> = {},
): HttpResponse {
  const answer = {
    statusCode: status,
    headers: {
      'content-type': contentType,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  };
  if (body.length <= escapedBeyond) return { ...answer, body };
  return { ...answer, body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
}

/** Lambda's answer is JSON of at most 6 MB: a long text could escape to six times as much, its base64 cannot. */
const escapedBeyond = 1_000_000;

export function emptyResponse(status: number, headers: Record<string, string> = {}): HttpResponse {
  return {
    statusCode: status,
    headers: { 'content-length': '0', 'cache-control': 'no-store', ...headers },
    body: '',
  };
}

/** Sends the browser on; where it came from, with its parameters, is not told. */
export function redirectResponse(location: string): HttpResponse {
  return emptyResponse(302, { location, 'referrer-policy': 'no-referrer' });
}
