import { type BaseIssue, type GenericSchema, type InferOutput, safeParse } from 'valibot';
import { Refusal, type RefusalIssue } from '../refusal.ts';

/** What a schema makes of a value, or what is wrong: one issue a field, in the order of the fields. */
export type Checked<Output> = { output: Output; issues?: never } | { output?: never; issues: RefusalIssue[] };

export function check<const Schema extends GenericSchema>(
  schema: Schema,
  value: unknown,
): Checked<InferOutput<Schema>> {
  const result = safeParse(schema, value);
  if (result.success) return { output: result.output };
  const issues = inOrder(schema, result.issues).map(issueOf);
  const first = new Map(issues.toReversed().map((issue) => [issue.expression, issue]));
  return { issues: issues.filter((issue) => first.get(issue.expression) === issue) };
}

/**
 * @param text of the refusal, for the log
 * @throws {Refusal} invalid, with one issue a field
 */
export function parse<const Schema extends GenericSchema>(
  schema: Schema,
  value: unknown,
  text = 'The body is not valid',
): InferOutput<Schema> {
  const checked = check(schema, value);
  if (checked.issues) throw new Refusal('invalid', text, { issues: checked.issues });
  return checked.output;
}

type Issue = Pick<BaseIssue<unknown>, 'message' | 'path'>;

/** What concerns several fields is found last, and told of with the one that it names. */
function inOrder(schema: GenericSchema, issues: readonly Issue[]): Issue[] {
  const names = 'entries' in schema ? Object.keys(schema.entries ?? {}) : [];
  const placeOf = ({ path }: Issue) => names.indexOf(String(path?.[0]?.key));
  return issues.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function issueOf({ message, path }: Issue): RefusalIssue {
  return path ? { text: message, expression: expressionOf(path) } : { text: message };
}

/** As FHIR writes it: `access[0].policy`. */
function expressionOf(path: NonNullable<Issue['path']>): string {
  return path
    .map(({ key }, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`))
    .join('');
}
