/** The name of whatever was thrown, for a decision or the log: its message may hold what a caller sent. */
export function errorName(error: unknown): string {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  return typeof name === 'string' ? name : typeof error;
}
