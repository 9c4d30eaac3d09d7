import type { Parameters, ParametersParameter } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/base/values.ts';
import { entriesOf, partsOf } from '../api/fhir.ts';
import type { Api } from '../api/use-api.ts';

export interface RunLog {
  entries: { at: string; level: string; text: string }[];
  isTruncated: boolean;
}

export interface Execution {
  id: string;
  time: string;
  requester: string;
  /** Empty where the entry has none. */
  requesterName: string;
  /** `returned`, `threw`, `timeout` and the like. */
  outcome: string;
  durationMs: string;
  inputType: string;
  version: string;
  traceId: string;
  log: RunLog;
}

interface Listing {
  from?: string;
  signal?: AbortSignal;
  count?: number;
  filters?: ExecutionFilters;
}

/** Of a Bot's runs one page, newest first. @param from the `next` of the page before */
export async function listExecutions(
  api: Api,
  botId: string,
  { from, signal, count = 20, filters = everyExecution }: Listing,
): Promise<{ executions: Execution[]; next: string | undefined }> {
  const query = queryOf(filters, Date.now());
  query.set('_count', String(count));
  const answer = await api.get<Parameters>(from ?? `fhir/R4/Bot/${botId}/$logs?${query}`, signal);
  return {
    executions: entriesOf(answer, 'execution').map(executionOf),
    next: entriesOf(answer, 'next')[0]?.valueUrl,
  };
}

function executionOf(entry: ParametersParameter): Execution {
  const parts = partsOf(entry);
  const lines = entry.part?.find(({ name }) => name === 'log')?.part ?? [];
  const requester = fieldsOf(parts.requester);
  const text = (name: string) => String(parts[name] ?? '');
  return {
    id: text('id'),
    time: text('time'),
    requester: String(requester.reference ?? ''),
    requesterName: String(requester.display ?? ''),
    outcome: text('outcome'),
    durationMs: text('durationMs'),
    inputType: text('inputType'),
    version: text('version'),
    traceId: text('trace'),
    log: {
      entries: lines.map(partsOf).map((line) => ({
        at: String(line.time),
        level: String(line.level),
        text: String(line.text),
      })),
      isTruncated: parts.logTruncated === true,
    },
  };
}

/** Which runs are wanted; empty texts want all. */
export interface ExecutionFilters {
  outcome: '' | 'success' | 'failure' | 'unknown';
  time: '' | 'hour' | 'day' | 'week';
  /** `Practitioner/<id>` */
  requester: string;
  trace: string;
}

const everyExecution: ExecutionFilters = { outcome: '', time: '', requester: '', trace: '' };

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
function queryOf({ outcome, time, requester, trace }: ExecutionFilters, nowMs: number): URLSearchParams {
  const query = new URLSearchParams();
  if (outcome) query.set('outcome', outcome);
  if (time) query.set('date', `ge${new Date(nowMs - lengths[time]).toISOString()}`);
  if (requester.trim()) query.set('requester', requester.trim());
  if (trace.trim()) query.set('trace', trace.trim());
  return query;
}
