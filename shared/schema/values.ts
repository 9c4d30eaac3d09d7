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
  maxValue,
  minValue,
  number,
  pipe,
  rawTransform,
  safeParse,
  string,
  type UnknownDataset,
} from 'valibot';

/** True or false. @param name of the field, for the text */
export function flag(name: string) {
  return boolean(`${name} must be true or false`);
}

export function wholeNumber(least: number, most: number, text: string) {
  return pipe(number(text), integer(text), minValue(least, text), maxValue(most, text));
}

/** Text; anything else counts as the empty one, which nothing is found by. */
export const anyText = fallback(string(), '');

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
