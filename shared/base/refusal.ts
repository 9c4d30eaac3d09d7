/** Every way in which Portico says an expected "no". `shared/carry/http/response.ts` maps each to a status. */
export type RefusalKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'insufficient-user-authentication'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'conflict'
  | 'outcome-unknown'
  | 'gone'
  | 'precondition-failed'
  | 'multiple-matches'
  | 'too-large'
  | 'unsupported-media-type'
  | 'unprocessable'
  | 'too-costly'
  | 'too-deep'
  | 'throttled'
  | 'not-started'
  | 'unavailable';

/** One thing that is wrong; `expression` names the field, as in OperationOutcome.issue.expression. */
export interface RefusalIssue {
  text: string;
  expression?: string;
  /** A reference that the text names, for programs. */
  diagnostics?: string;
}

interface RefusalOptions {
  /** More than one thing is wrong: each becomes an issue of the OperationOutcome. */
  issues?: readonly RefusalIssue[];
  /** For our log only; never shown to the caller. */
  reason?: string;
  /** For `throttled`, `not-started` and `unavailable`: seconds until a repeat makes sense. */
  retryAfterSeconds?: number;
  /** For `method-not-allowed`: what the path does allow. */
  allow?: readonly string[];
}

/** The one expected error. Thrown by operations, answered by `shared/carry/http`; its texts are public. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  readonly issues: readonly RefusalIssue[];
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;

  constructor(kind: RefusalKind, text: string, options: RefusalOptions = {}) {
    super(text);
    this.name = 'Refusal';
    this.kind = kind;
    this.issues = options.issues ?? [{ text }];
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }
}

/** A 400 for one field, named as FHIR names it. */
export function invalidField(expression: string, text: string): Refusal {
  return new Refusal('invalid', text, { issues: [{ text, expression }] });
}
