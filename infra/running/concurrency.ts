/**
 * What a function may have of the account's concurrency, in hundredths: it is kept for it, and it gets no more. Sign-in,
 * tokens and members have theirs whatever Bots do; who starts Bots is bounded, and with it the invokers, which have no
 * share: Lambda would allow a function with a smaller share fewer environments of tenants (2,500 for 1,000).
 */
export const shares = {
  token: 3,
  login: 3,
  members: 3,
  'execute-by-id': 15,
  'execute-by-identifier': 15,
  jobs: 5,
} as const;

/** With less than this, shares would be too small to work with; a new account has 10. */
export const leastToShare = 400;

/** @returns executions at once that are reserved for the function; undefined for one without a share */
export function reservedFor(folder: string, accountConcurrency: number): number | undefined {
  const share: number | undefined = (shares as Readonly<Record<string, number>>)[folder];
  if (share === undefined || accountConcurrency < leastToShare) return undefined;
  return Math.floor((accountConcurrency * share) / 100);
}
