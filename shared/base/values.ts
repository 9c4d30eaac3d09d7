/** Whether a value has members to look at; those of a list are its entries. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The members of a value that nothing is known of yet; none of what is no object. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** The names in a record that holds what its type says and nothing else, such as a table in our code. */
export function typedKeys<T extends object>(record: T): (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}

/** The same names with what they lead to. */
export function typedEntries<T extends object>(record: T): [keyof T & string, T[keyof T & string]][] {
  return Object.entries(record) as [keyof T & string, T[keyof T & string]][];
}

/** Whether a name, which may come from anywhere, is one of the record's own. */
export function isKeyOf<T extends object>(record: T, name: string): name is keyof T & string {
  return Object.hasOwn(record, name);
}

/** A record of what is made of each name. */
export function recordOf<Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}

/** The record without the members that are left out, which are none that its type requires. */
export function withoutKeys<T extends object>(record: T, isLeftOut: (name: string) => boolean): T {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !isLeftOut(name))) as T;
}

/** The name of whatever was thrown, for a decision or the log: its message may hold what a caller sent. */
export function errorName(error: unknown): string {
  const { name } = fieldsOf(error);
  return typeof name === 'string' ? name : typeof error;
}

/** What Node and libraries call a fault, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  const { code } = fieldsOf(error);
  return typeof code === 'string' ? code : undefined;
}

/** What an error says, for whoever sits at the command line; a log may not have it. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Combining marks, and the two letters of half width that normalisation makes marks. */
const marks = /[\p{M}\uff9e\uff9f]+/gu;
const mostMarks = 30;
/** Ligatures that stand for whole phrases: normalisation makes 18 and 8 characters of them. */
const wholePhrases = /[\ufdfa\ufdfb]/g;
const mostPhrases = 100;

/**
 * Unicode normalisation of a text that somebody sent. Of combining marks in a row those beyond 30 are left out: they are in
 * no language, and to put them in order takes the square of their number (UAX #15, Stream-Safe Text Format). So are those beyond
 * a hundred of the two ligatures that become whole phrases.
 */
export function normalised(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  const few = (row: string) => (row.length > mostMarks ? [...row].slice(0, mostMarks).join('') : row);
  let phrases = 0;
  const some = (phrase: string) => (++phrases > mostPhrases ? '' : phrase);
  return text.replace(marks, few).replace(wholePhrases, some).normalize(form);
}
