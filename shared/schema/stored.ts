import { type GenericSchema, type InferInput, is, safeParse } from 'valibot';

/** What the table holds is not as it was written: a fault of ours. The text names fields, never values. */
class StoredFault extends Error {
  constructor(what: string, fields: readonly string[]) {
    super(`A stored ${what} is not as it was written: ${fields.join(', ')}`);
    this.name = 'StoredFault';
  }
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
