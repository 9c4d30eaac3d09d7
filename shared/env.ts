/** The environment of a function, read once at cold start by its handler. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {Error} when a variable that the function cannot run without is missing */
export function requireVariable(env: Environment, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing`);
  return value;
}
