import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { stringifyJson } from '../../base/json.ts';
import { signInMaxAgeSeconds } from '../../base/limits.ts';
import type { Refusal, RefusalIssue, RefusalKind } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';

/** FHIR R4 OperationOutcome: the one shape in which Portico says what happened. */
export interface OperationOutcome {
  resourceType: 'OperationOutcome';
  id?: string;
  issue: OutcomeIssue[];
}

interface OutcomeIssue {
  severity: 'fatal' | 'error' | 'warning' | 'information';
  code: string;
  details: { coding?: { system: string; code: string }[]; text: string };
  diagnostics?: string;
  expression?: string[];
}

/**
 * Status and issue code (http://hl7.org/fhir/issue-type) of every kind of refusal, and the id by which existing clients
 * tell outcomes apart.
 */
const table: Record<RefusalKind, { status: number; code: string; id?: string }> = {
  invalid: { status: 400, code: 'invalid' },
  unauthorized: { status: 401, code: 'login', id: 'unauthorized' },
  forbidden: { status: 403, code: 'forbidden', id: 'forbidden' },
  // RFC 9470 says 401: clients of this field would drop the session, and the token is good.
  'insufficient-user-authentication': {
    status: 403,
    code: 'forbidden',
    id: 'insufficient-user-authentication',
  },
  'not-found': { status: 404, code: 'not-found', id: 'not-found' },
  'method-not-allowed': { status: 405, code: 'not-supported' },
  'not-acceptable': { status: 406, code: 'not-supported' },
  conflict: { status: 409, code: 'conflict', id: 'conflict' },
  // It may have been done: a repeat does not mend it, somebody has to look.
  'outcome-unknown': { status: 409, code: 'conflict', id: 'outcome-unknown' },
  gone: { status: 410, code: 'deleted', id: 'gone' },
  'precondition-failed': { status: 412, code: 'conflict', id: 'precondition-failed' },
  'multiple-matches': { status: 412, code: 'multiple-matches', id: 'multiple-matches' },
  'too-large': { status: 413, code: 'too-long' },
  'unsupported-media-type': { status: 415, code: 'not-supported' },
  unprocessable: { status: 422, code: 'structure' },
  'too-costly': { status: 400, code: 'too-costly' },
  'too-deep': { status: 400, code: 'too-costly', id: 'too-deep' },
  throttled: { status: 429, code: 'throttled', id: 'too-many-requests' },
  // No sandbox came up, so no Bot ran: a repeat is harmless.
  'not-started': { status: 503, code: 'transient', id: 'sandbox-not-started' },
  unavailable: { status: 503, code: 'transient' },
};

/** RFC 9470 section 3, for programs: which refusal it is, and within how many seconds after a sign-in it is none. */
const stepUp = {
  coding: [{ system: 'https://www.rfc-editor.org/rfc/rfc9470', code: 'insufficient_user_authentication' }],
  diagnostics: `max_age=${signInMaxAgeSeconds}`,
};

/** Of one outcome. */
const mostIssues = 100;
/** Characters of a text or an expression. */
const longestShown = 1000;

export function refusalStatus(kind: RefusalKind): number {
  return table[kind].status;
}

export function refusalOutcome(refusal: Refusal): OperationOutcome {
  const { code, id } = table[refusal.kind];
  const said = refusal.kind === 'insufficient-user-authentication' ? stepUp : undefined;
  return {
    resourceType: 'OperationOutcome',
    ...(id ? { id } : {}),
    issue: refusal.issues.slice(0, mostIssues).map((issue) => refusalIssue(code, issue, said)),
  };
}

/** The fixed answer to a fault: the trace id leads to the log, nothing else leaves. */
export function faultOutcome(traceId: string): OperationOutcome {
  const details = { text: 'Internal server error' };
  return outcomeOf({ severity: 'fatal', code: 'exception', details, diagnostics: `Trace ${traceId}` });
}

const information = { severity: 'information', code: 'informational' } as const;

export function allOk(): OperationOutcome {
  return outcomeOf({ ...information, details: { text: 'All OK' } }, 'ok');
}

/** It will be done; `url` is where to look. */
export function accepted(url: string): OperationOutcome {
  return outcomeOf({ ...information, details: { text: 'Accepted' }, diagnostics: url }, 'accepted');
}

/** Why a run of a Bot gave no result; all of these are answered 400. */
export function botFailure(
  code: 'exception' | 'processing' | 'timeout' | 'too-costly' | 'too-long' | 'invalid',
  text: string,
  diagnostics: string,
): OperationOutcome {
  return outcomeOf({ severity: 'error', code, details: { text }, diagnostics });
}

function outcomeOf(issue: OutcomeIssue, id?: string): OperationOutcome {
  return { resourceType: 'OperationOutcome', ...(id ? { id } : {}), issue: [issue] };
}

function refusalIssue(
  code: string,
  { text, expression, diagnostics }: RefusalIssue,
  { coding, ...said }: Partial<typeof stepUp> = {},
): OutcomeIssue {
  return {
    severity: 'error',
    code,
    details: { ...(coding ? { coding } : {}), text: shown(text) },
    ...(diagnostics ? { diagnostics } : said),
    ...(expression ? { expression: [shown(expression)] } : {}),
  };
}

/** What was sent is quoted in part: an answer must not outgrow what it answers. */
function shown(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown).toWellFormed()}…`;
}

export type HttpResponse = APIGatewayProxyStructuredResultV2;

/** On every answer that does not say otherwise: it is no page, and nothing of it is framed, embedded or guessed at. */
export const guards = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
};

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

/** Work that has no result to show: an OperationOutcome when it is done; 202 where more follows from it. */
export async function done(work: Promise<void>, status: 200 | 202 = 200): Promise<HttpResponse> {
  await work;
  return fhirResponse(status, allOk());
}

/** Work that answers JSON when it is done. */
export async function answered(work: Promise<unknown>): Promise<HttpResponse> {
  return jsonResponse(200, await work);
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
    headers: { 'content-type': contentType, 'cache-control': 'no-store', ...headers },
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

export function redirectResponse(location: string): HttpResponse {
  return emptyResponse(302, { location });
}
