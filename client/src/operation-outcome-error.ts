/** FHIR R4 OperationOutcome, as far as Portico fills it. */
export interface OperationOutcome {
  resourceType: 'OperationOutcome';
  id?: string;
  issue: OutcomeIssue[];
}

export interface OutcomeIssue {
  severity: 'fatal' | 'error' | 'warning' | 'information';
  /** http://hl7.org/fhir/issue-type */
  code: string;
  details?: { text?: string };
  diagnostics?: string;
  /** The field that is wrong, as in `["email"]`. */
  expression?: string[];
}

/** What the service answered instead of a result. */
export class OperationOutcomeError extends Error {
  override readonly name = 'OperationOutcomeError';
  /** The HTTP status. */
  readonly status: number;
  readonly outcome: OperationOutcome;
  /** How long the service asks to wait before another call, if it says. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, outcome: OperationOutcome, retryAfterSeconds?: number) {
    super(outcome.issue.map(textOf).join('; ') || `HTTP ${status}`);
    this.status = status;
    this.outcome = outcome;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The error of a refused call. A proxy's own page becomes an outcome that holds its text. */
export async function outcomeErrorOf(response: Response): Promise<OperationOutcomeError> {
  const { status, statusText } = response;
  const text = await response.text().catch(() => '');
  const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
  const outcome = parseOutcome(text) ?? otherOutcome(text, `HTTP ${status} ${statusText}`.trim());
  return new OperationOutcomeError(status, outcome, Number.isNaN(seconds) ? undefined : seconds);
}

function parseOutcome(text: string): OperationOutcome | undefined {
  try {
    const value = JSON.parse(text) as OperationOutcome | null;
    return value?.resourceType === 'OperationOutcome' && Array.isArray(value.issue) ? value : undefined;
  } catch {
    return undefined;
  }
}

const longestDiagnostics = 2000;

function otherOutcome(answer: string, text: string): OperationOutcome {
  const diagnostics = answer.slice(0, longestDiagnostics);
  return {
    resourceType: 'OperationOutcome',
    issue: [
      { severity: 'error', code: 'exception', details: { text }, ...(diagnostics ? { diagnostics } : {}) },
    ],
  };
}

function textOf({ details, diagnostics, code }: OutcomeIssue): string {
  return details?.text ?? diagnostics ?? code;
}
