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
