import {
  type BaseIssue,
  boolean,
  type Config,
  custom,
  fallback,
  type GenericSchema,
  type InferInput,
  type InferOutput,
  integer,
  is,
  maxLength,
  maxValue,
  minLength,
  minValue,
  nullish,
  number,
  type ObjectEntries,
  object,
  pipe,
  rawTransform,
  safeParse,
  strictObject,
  string,
  transform,
  type UnknownDataset,
} from 'valibot';
import { Refusal, type RefusalIssue } from './refusal.ts';

const noObject = 'The body must be a JSON object';

/**
 * An object with these members; others are left out. A member that is missing is refused in the words of
 * its own schema, as one that is wrong.
 * @param text for what is no object; an array is none
 */
export function fields<const Entries extends ObjectEntries>(entries: Entries, text: string = noObject) {
  return noArray(object(entries, textFor(entries, text)));
}

/** The same, but others are refused: of what is all optional a misspelt member would be none. */
export function onlyFields<const Entries extends ObjectEntries>(entries: Entries) {
  return noArray(strictObject(entries, textFor(entries, noObject)));
}

function textFor(entries: ObjectEntries, text: string) {
  return (issue: BaseIssue<unknown>) => {
    const name = issue.path?.at(-1)?.key;
    if (typeof name !== 'string') return text;
    return Object.hasOwn(entries, name)
      ? missingText(name, entries[name], issue)
      : `${name} is not known here`;
  };
}

function noArray<Schema extends GenericSchema>(schema: Schema): Schema {
  return Object.assign({}, schema, {
    '~run': (dataset: UnknownDataset, config: Config<BaseIssue<unknown>>) =>
      schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config),
  });
}

function missingText(name: string, entry: ObjectEntries[string] | undefined, issue: BaseIssue<unknown>) {
  const message: unknown = entry && 'message' in entry ? entry.message : undefined;
  if (typeof message === 'function') return String(message(issue));
  return typeof message === 'string' ? message : `${name} is required`;
}

/** A member that may be left out, or null; either way it is undefined. */
export function optionalField<const Schema extends GenericSchema>(schema: Schema) {
  return pipe(
    nullish(schema),
    transform((value) => value ?? undefined),
  );
}

/** True or false. @param name of the field, for the text */
export function flag(name: string) {
  return boolean(`${name} must be true or false`);
}

export function wholeNumber(least: number, most: number, text: string) {
  return pipe(number(text), integer(text), minValue(least, text), maxValue(most, text));
}

/** Text of up to 4,000 characters; anything else counts as the empty one, which nothing is found by. */
export const anyText = fallback(pipe(string(), maxLength(4000)), '');

/** Text that must be there. @param longest in characters */
export function requiredText(name: string, longest: number) {
  const text = `${name} is required: text of up to ${longest} characters`;
  return pipe(string(text), minLength(1, text), maxLength(longest, text));
}

/** Text that may be left out; empty is none. @param longest in characters */
export function optionalText(name: string, longest: number) {
  const text = `${name} must be text of up to ${longest} characters`;
  return optionalField(
    pipe(
      string(text),
      maxLength(longest, text),
      transform((given) => given || undefined),
    ),
  );
}

/** Binary data, as the table has it. */
export const bytes = custom<Uint8Array>((value) => value instanceof Uint8Array);

/** Text in the form that a function knows it under. @param read undefined for what has no such form */
export function readText<Read>(text: string, read: (given: string) => Read | undefined) {
  return pipe(
    string(text),
    rawTransform<string, Read>(({ dataset, addIssue, NEVER }) => {
      const value = read(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: text });
      return NEVER;
    }),
  );
}

/** The same schema, but whatever is wrong inside is told of once, at the place itself. */
export function whole<const Schema extends GenericSchema>(
  schema: Schema,
  text: string,
): GenericSchema<InferInput<Schema>, InferOutput<Schema>> & { message: string } {
  return {
    ...schema,
    message: text,
    '~run': ({ value }: UnknownDataset, config: Config<BaseIssue<unknown>>) => {
      const result = safeParse(schema, value, config);
      if (result.success) return { typed: true, value: result.output };
      const [{ path: _inside, ...first }] = result.issues;
      return { typed: false, value, issues: [{ ...first, message: text }] };
    },
  };
}

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

/** What the table holds is not as it was written: a fault of ours. The text names fields, never values. */
class StoredFault extends Error {
  constructor(what: string, fields: readonly string[]) {
    super(`A stored ${what} is not as it was written: ${fields.join(', ')}`);
    this.name = 'StoredFault';
  }
}

/** Reads the body of a message of a queue. @param what it names, for the log */
export function messageBody<const Schema extends GenericSchema>(what: string, schema: Schema) {
  return (body: unknown): InferInput<Schema> => {
    if (is(schema, body)) return body;
    throw new Error(`The message names no ${what}`);
  };
}

/**
 * Reads one kind of stored item, or a resource inside one: what was read itself, known to fit the schema.
 * Nothing is copied and nothing is changed, so a schema here transforms nothing.
 * @param what names the kind, for the log
 */
export function stored<const Schema extends GenericSchema>(what: string, schema: Schema) {
  function read(value: object): InferInput<Schema>;
  function read(value: object | undefined): InferInput<Schema> | undefined;
  function read(value: object | undefined): InferInput<Schema> | undefined {
    if (value === undefined || is(schema, value)) return value;
    const { issues = [] } = safeParse(schema, value);
    throw new StoredFault(
      what,
      issues.map(({ path = [] }) => path.map(({ key }) => String(key)).join('.')),
    );
  }
  return read;
}

/** Far more than any request has use for: `URLSearchParams` takes the square of their number to read them. */
const mostParameters = 10_000;

/**
 * The parameters of a query or form that was sent.
 * @throws {Refusal} too-costly
 */
export function readQuery(text: string): URLSearchParams {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) count++;
  if (count <= mostParameters) return new URLSearchParams(text);
  throw new Refusal('too-costly', `A query or form has at most ${mostParameters} parameters`);
}
