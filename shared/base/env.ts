/** The environment of a function, read once at cold start by its handler. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A count that may be left out: then 0. @throws {Error} for what is none */
export function countVariable(env: Environment, name: string): number {
  const value = env[name] ?? '0';
  if (!/^\d{1,6}$/.test(value)) throw new Error(`The environment variable ${name} is no count`);
  return Number(value);
}

/** @throws {Error} when a variable that the function cannot run without is missing */
export function requireVariable(env: Environment, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing`);
  return value;
}
