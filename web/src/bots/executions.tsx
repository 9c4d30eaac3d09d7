import type { Bot, Parameters, ParametersParameter } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/base/values.ts';
import { entriesOf, partsOf, queryOf } from '../api/fhir.ts';
import { type Api, useApi, useReloading } from '../api/use-api.ts';
import { type AskedPage, type LoadedPage, useAddress, usePages } from '../api/use-pages.ts';
import { Badge, Button, Moment } from '../ui/basics.tsx';
import { Select, Switch, TextField, useSettled } from '../ui/fields.tsx';
import { PagedRows } from '../ui/lists.tsx';
import { LogView } from './run-log.tsx';

const liveMs = 3_000;

/** A Bot's runs with their logs, newest first. */
export function ExecutionsTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const { values: filters, change, field } = useAddress(noFilters, { outcome: outcomes, time: times });
  const { live, ...onlyRuns } = filters;
  const wanted = useSettled(JSON.stringify(onlyRuns));
  const pages = usePages(`${bot.id} ${wanted}`, (asked) =>
    listExecutions(api, bot.id ?? '', { filters: JSON.parse(wanted), ...asked }),
  );
  useReloading(pages, live === '' ? undefined : liveMs);
  const isNarrowed = Object.values(JSON.parse(wanted)).some(Boolean);
  return (
    <>
      <fieldset className="filters" aria-label="Filters">
        <Select label="Outcome" options={outcomes} {...field('outcome')} />
        <Select label="Time" options={times} {...field('time')} />
        <TextField label="Run by" spellCheck="false" {...field('by')}>
          As Practitioner/…
        </TextField>
        <TextField label="Trace" spellCheck="false" {...field('trace')}>
          The X-Trace-Id of a call
        </TextField>
        <Switch
          label="Live"
          isSelected={live !== ''}
          onChange={(isLive) => change({ live: isLive ? 'yes' : '' })}
        />
      </fieldset>
      <Button onPress={pages.reload}>Refresh</Button>
      <PagedRows
        label="Executions"
        pages={pages}
        keyOf={({ id }) => id}
        empty={isNarrowed ? 'No runs match these filters' : 'It has not run yet'}
        row={(execution) => (
          <ExecutionRow execution={execution} onRequester={() => change({ by: execution.requester })} />
        )}
      />
    </>
  );
}

function ExecutionRow({ execution, onRequester }: { execution: Execution; onRequester(): void }) {
  const { time, outcome, durationMs, inputType, version, log, requester, requesterName, traceId } = execution;
  const facts = [inputType, durationMs && `${durationMs} ms`, version && `version ${version.slice(0, 8)}`];
  return (
    <details className="record">
      <summary>
        <Moment className="row-title" at={time} />
        <span className="row-side">
          <span className="row-more">{facts.filter(Boolean).join(', ')}</span>
          <Badge kind={outcome === 'returned' ? 'good' : 'bad'}>{outcome}</Badge>
        </span>
      </summary>
      <p className="row-more">
        Run by {requesterName || requester}; trace <code>{traceId}</code>{' '}
        <Button kind="quiet" onPress={onRequester}>
          Only runs by {requesterName || requester}
        </Button>
      </p>
      <LogView log={log} />
    </details>
  );
}

type Execution = ReturnType<typeof executionOf>;

const outcomes = { '': 'Every outcome', success: 'Succeeded', failure: 'Failed', unknown: 'Unknown' };
const times = { '': 'Any time', hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days' };

const hourMs = 3_600_000;
const lengths: Record<string, number> = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs };

/** Which runs are wanted, as the address of the page says; empty texts want all. */
const noFilters = {
  outcome: '',
  time: '',
  /** `Practitioner/<id>` */
  by: '',
  trace: '',
  live: '',
};

interface Listing extends AskedPage {
  count?: number;
  filters?: Omit<typeof noFilters, 'live'>;
}

/** Of a Bot's runs one page, newest first. */
export async function listExecutions(
  api: Api,
  botId: string,
  { next, signal, count = 20, filters = noFilters }: Listing,
): Promise<LoadedPage<Execution>> {
  const { outcome, time, by, trace } = filters;
  const length = lengths[time];
  const date = length ? `ge${new Date(Date.now() - length).toISOString()}` : undefined;
  const narrowing = { outcome, date, requester: by.trim(), trace: trace.trim() };
  const query = queryOf({ ...narrowing, _count: String(count) });
  const answer = await api.get<Parameters>(next ?? `fhir/R4/Bot/${botId}/$logs?${query}`, signal);
  return {
    items: entriesOf(answer, 'execution').map(executionOf),
    next: entriesOf(answer, 'next')[0]?.valueUrl,
  };
}

function executionOf(entry: ParametersParameter) {
  const parts = partsOf(entry);
  const lines = entry.part?.find(({ name }) => name === 'log')?.part ?? [];
  const requester = fieldsOf(parts.requester);
  const text = (name: string) => String(parts[name] ?? '');
  return {
    id: text('id'),
    time: text('time'),
    requester: String(requester.reference ?? ''),
    requesterName: String(requester.display ?? ''),
    /** `returned`, `threw`, `timeout` and the like. */
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
