import type { Parameters, ParametersParameter } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { entriesOf, partsOf } from '../api/parameters.ts';
import type { Api } from '../api/use-api.ts';
import { type ExecutionFilters, everyExecution, queryOf } from './filters.ts';

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
