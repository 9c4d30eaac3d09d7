/** The names in a record that holds what its type says and nothing else, such as a table in our code. */
export function typedKeys<T extends object>(record: T): (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}

/** The same names with what they lead to. */
export function typedEntries<T extends object>(record: T): [keyof T & string, T[keyof T & string]][] {
  return Object.entries(record) as [keyof T & string, T[keyof T & string]][];
}
