import {
  type BaseIssue,
  type Config,
  type GenericSchema,
  nullish,
  type ObjectEntries,
  object,
  pipe,
  transform,
  type UnknownDataset,
} from 'valibot';

const noObject = 'The body must be a JSON object';

/**
 * An object with these members; others are left out. A member that is missing is refused in the words of
 * its own schema, as one that is wrong.
 * @param text for what is no object; an array is none
 */
export function fields<const Entries extends ObjectEntries>(entries: Entries, text: string = noObject) {
  const schema = object(entries, (issue) => {
    const name = issue.path?.at(-1)?.key;
    return typeof name === 'string' ? missingText(name, entries[name], issue) : text;
  });
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
export function optional<const Schema extends GenericSchema>(schema: Schema) {
  return pipe(
    nullish(schema),
    transform((value) => value ?? undefined),
  );
}
