import { OAuthError, OperationOutcomeError, type OutcomeIssue } from '../../../client/src/index.ts';

/**
 * An error as a sentence for a person; undefined when all of it stands at a field.
 * @param fields whose issues are shown elsewhere
 */
export function messageOf(error: unknown): string;
export function messageOf(error: unknown, fields: readonly string[]): string | undefined;
export function messageOf(error: unknown, fields: readonly string[] = []): string | undefined {
  if (error instanceof OperationOutcomeError) {
    const texts = error.outcome.issue.filter((issue) => !fieldOf(issue, fields)).map(textOf);
    const wait = error.retryAfterSeconds ? ` Try again in ${duration(error.retryAfterSeconds)}.` : '';
    return texts.length > 0 ? [...new Set(texts)].join(' ') + wait : undefined;
  }
  if (error instanceof OAuthError) return 'Your session has ended. Sign in again.';
  if (error instanceof TypeError)
    return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

/** The texts of an error by the field that they are about. */
export function fieldErrorsOf(error: unknown, fields: readonly string[]): Record<string, string> {
  if (!(error instanceof OperationOutcomeError)) return {};
  const found: Record<string, string> = {};
  for (const issue of error.outcome.issue) {
    const field = fieldOf(issue, fields);
    if (field) found[field] ??= textOf(issue);
  }
  return found;
}

/** `access[0].policy` belongs to the field `access`, `identifier[0].value` to `identifier`. */
function fieldOf({ expression = [] }: OutcomeIssue, fields: readonly string[]): string | undefined {
  return fields.find((field) =>
    expression.some(
      (path) => path === field || (/^[.[]/.test(path.slice(field.length)) && path.startsWith(field)),
    ),
  );
}

function textOf({ details, diagnostics, code }: OutcomeIssue): string {
  return sentence(details?.text ?? diagnostics ?? code);
}

function sentence(text: string): string {
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}

function duration(seconds: number): string {
  const [value, unit] = seconds > 90 ? [Math.ceil(seconds / 60), 'minute'] : [seconds, 'second'];
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}
