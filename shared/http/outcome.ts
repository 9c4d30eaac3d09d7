import type { Refusal, RefusalIssue, RefusalKind } from '../refusal.ts';

/** FHIR R4 OperationOutcome: the one shape in which Portico says what happened. */
export interface OperationOutcome {
  resourceType: 'OperationOutcome';
  id?: string;
  issue: OutcomeIssue[];
}

interface OutcomeIssue {
  severity: 'fatal' | 'error' | 'warning' | 'information';
  code: string;
  details: { text: string };
  diagnostics?: string;
  expression?: string[];
}

/** Status and issue code (http://hl7.org/fhir/issue-type) of every kind of refusal. */
const table: Record<RefusalKind, { status: number; code: string }> = {
  invalid: { status: 400, code: 'invalid' },
  unauthorized: { status: 401, code: 'login' },
  forbidden: { status: 403, code: 'forbidden' },
  'not-found': { status: 404, code: 'not-found' },
  'method-not-allowed': { status: 405, code: 'not-supported' },
  'not-acceptable': { status: 406, code: 'not-supported' },
  conflict: { status: 409, code: 'conflict' },
  // It may have been done: a repeat does not mend it, somebody has to look.
  'outcome-unknown': { status: 409, code: 'conflict' },
  gone: { status: 410, code: 'deleted' },
  'precondition-failed': { status: 412, code: 'conflict' },
  'multiple-matches': { status: 412, code: 'multiple-matches' },
  'too-large': { status: 413, code: 'too-long' },
  'unsupported-media-type': { status: 415, code: 'not-supported' },
  unprocessable: { status: 422, code: 'structure' },
  'too-costly': { status: 400, code: 'too-costly' },
  'too-deep': { status: 400, code: 'too-costly' },
  throttled: { status: 429, code: 'throttled' },
  // No sandbox came up, so no Bot ran: a repeat is harmless.
  'not-started': { status: 503, code: 'transient' },
  unavailable: { status: 503, code: 'transient' },
};

/** Ids by which existing clients tell outcomes apart. */
const ids: Partial<Record<RefusalKind, string>> = {
  unauthorized: 'unauthorized',
  forbidden: 'forbidden',
  'not-found': 'not-found',
  conflict: 'conflict',
  'outcome-unknown': 'outcome-unknown',
  gone: 'gone',
  'precondition-failed': 'precondition-failed',
  'multiple-matches': 'multiple-matches',
  'too-deep': 'too-deep',
  throttled: 'too-many-requests',
  'not-started': 'sandbox-not-started',
};

/** Of one outcome. */
const mostIssues = 100;
/** Characters of a text or an expression. */
const longestShown = 1000;

export function refusalStatus(kind: RefusalKind): number {
  return table[kind].status;
}

export function refusalOutcome(refusal: Refusal): OperationOutcome {
  const { code } = table[refusal.kind];
  const id = ids[refusal.kind];
  return {
    resourceType: 'OperationOutcome',
    ...(id ? { id } : {}),
    issue: refusal.issues.slice(0, mostIssues).map((issue) => refusalIssue(code, issue)),
  };
}

/** The fixed answer to a fault: the trace id leads to the log, nothing else leaves. */
export function faultOutcome(traceId: string): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    issue: [
      {
        severity: 'fatal',
        code: 'exception',
        details: { text: 'Internal server error' },
        diagnostics: `Trace ${traceId}`,
      },
    ],
  };
}

export function allOk(): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id: 'ok',
    issue: [{ severity: 'information', code: 'informational', details: { text: 'All OK' } }],
  };
}

/** It will be done; `url` is where to look. */
export function accepted(url: string): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id: 'accepted',
    issue: [
      { severity: 'information', code: 'informational', details: { text: 'Accepted' }, diagnostics: url },
    ],
  };
}

/** Why a run of a Bot gave no result; all of these are answered 400. */
export function botFailure(
  code: 'exception' | 'processing' | 'timeout' | 'too-costly' | 'too-long' | 'invalid',
  text: string,
  diagnostics: string,
): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code, details: { text }, diagnostics }],
  };
}

function refusalIssue(code: string, { text, expression, diagnostics }: RefusalIssue): OutcomeIssue {
  return {
    severity: 'error',
    code,
    details: { text: shown(text) },
    ...(diagnostics ? { diagnostics } : {}),
    ...(expression ? { expression: [shown(expression)] } : {}),
  };
}

/** What was sent is quoted in part: an answer must not outgrow what it answers. */
function shown(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown).toWellFormed()}…`;
}
