/** Which runs are wanted; empty texts want all. */
export interface ExecutionFilters {
  outcome: '' | 'success' | 'failure' | 'unknown';
  time: '' | 'hour' | 'day' | 'week';
  /** `Practitioner/<id>` */
  requester: string;
  trace: string;
}

export const everyExecution: ExecutionFilters = { outcome: '', time: '', requester: '', trace: '' };

export const outcomes = [
  { value: '', label: 'Every outcome' },
  { value: 'success', label: 'Succeeded' },
  { value: 'failure', label: 'Failed' },
  { value: 'unknown', label: 'Unknown' },
] as const;
export const times = [
  { value: '', label: 'Any time' },
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last 24 hours' },
  { value: 'week', label: 'Last 7 days' },
] as const;

const hourMs = 3_600_000;
const lengths = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs };

/** The parameters of `$logs`. */
export function queryOf(
  { outcome, time, requester, trace }: ExecutionFilters,
  nowMs: number,
): URLSearchParams {
  const query = new URLSearchParams();
  if (outcome) query.set('outcome', outcome);
  if (time) query.set('date', `ge${new Date(nowMs - lengths[time]).toISOString()}`);
  if (requester.trim()) query.set('requester', requester.trim());
  if (trace.trim()) query.set('trace', trace.trim());
  return query;
}
