/** The entries of docs/operate.md that alarms lead to: a heading there for each, and each is some alarm's. */
export const runbook = [
  'api-faults',
  'function-failing',
  'sandbox-not-started',
  'audit-entry-lost',
  'execution-record-lost',
  'access-record-lost',
  'dead-letters',
  'deliveries-late',
  'subscription-not-read',
  'jobs-given-up',
  'stream-behind',
  'stream-given-up',
  'schedules-late',
  'mail-not-sent',
  'mail-reputation',
  'leftovers-not-swept',
  'table-throttled',
  'concurrency-used-up',
  'certificate-expires',
  'canary',
] as const;

export type RunbookEntry = (typeof runbook)[number];
