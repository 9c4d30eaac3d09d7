import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { useAddressState, useAddressText } from '../api/use-pages.ts';
import { Badge, Button, Empty, Failure, Loading, Moment } from '../ui/basics.tsx';
import { Select, Switch, TextField } from '../ui/fields.tsx';
import { type Execution, type ExecutionFilters, listExecutions, outcomes, times } from './executions.ts';
import { LogView } from './run-log.tsx';

/** How often it is looked again while it is live. */
const liveMs = 3_000;
/** While somebody types nothing is asked for. */
const typingMs = 400;

/** A Bot's runs with their logs, newest first. */
export function ExecutionsTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const id = bot.id ?? '';
  const [filters, setFilters] = useAddressFilters();
  const wanted = useSettled(filters);
  const [live, setLive] = useAddressState('live', ['', 'yes'], '');
  const isLive = live === 'yes';
  const load = useCallback(
    (signal: AbortSignal) => listExecutions(api, id, { signal, filters: wanted }),
    [api, id, wanted],
  );
  const loaded = useLoad(load);
  const { reload, state } = loaded;
  useEffect(() => {
    if (!isLive || state === 'loading') return;
    const timer = setTimeout(reload, liveMs);
    return () => clearTimeout(timer);
  }, [isLive, state, reload]);
  const isNarrowed = Object.values(wanted).some(Boolean);
  return (
    <>
      <FilterForm
        filters={filters}
        onChange={setFilters}
        isLive={isLive}
        onLive={(next) => setLive(next ? 'yes' : '')}
      />
      <div>
        <Button onPress={reload}>Refresh</Button>
      </div>
      <Loading of={loaded}>
        {(first) =>
          first.executions.length === 0 ? (
            <Empty title={isNarrowed ? 'No runs match these filters' : 'It has not run yet'} />
          ) : (
            <Executions botId={id} first={first} onRequester={(requester) => setFilters({ requester })} />
          )
        }
      </Loading>
    </>
  );
}

/** The filters once nobody has changed them for a moment. */
function useSettled(filters: ExecutionFilters): ExecutionFilters {
  const [settled, setSettled] = useState(filters);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(filters), typingMs);
    return () => clearTimeout(timer);
  }, [filters]);
  return settled;
}

type Listed = Awaited<ReturnType<typeof listExecutions>>;

interface ExecutionsProps {
  botId: string;
  first: Listed;
  onRequester(requester: string): void;
}

function Executions({ botId, first, onRequester }: ExecutionsProps) {
  const api = useApi();
  // What was shown beyond the first page goes with it.
  const [older, setOlder] = useState<Listed & { of: Listed }>();
  const beyond = older?.of === first ? older : undefined;
  const executions = [...first.executions, ...(beyond?.executions ?? [])];
  const { next } = beyond ?? first;
  const more = useAction(async () => {
    if (next === undefined) return;
    const page = await listExecutions(api, botId, { from: next });
    setOlder({ of: first, executions: [...(beyond?.executions ?? []), ...page.executions], next: page.next });
  });
  return (
    <>
      <ul className="rows" aria-label="Executions">
        {executions.map((execution) => (
          <li className="row" key={execution.id}>
            <ExecutionRow execution={execution} onRequester={onRequester} />
          </li>
        ))}
      </ul>
      <Failure message={more.message} />
      {next !== undefined && (
        <div>
          <Button onPress={() => more.run()} isPending={more.isBusy}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

interface ExecutionRowProps {
  execution: Execution;
  onRequester(requester: string): void;
}

/** One run: when, how it ended, and opened who asked for it, its trace and its log. */
function ExecutionRow({ execution, onRequester }: ExecutionRowProps) {
  const { time, outcome, durationMs, inputType, version, log, requester, requesterName, traceId } = execution;
  const facts = [inputType, durationMs && `${durationMs} ms`, version && `version ${version.slice(0, 8)}`];
  return (
    <details className="record">
      <summary>
        <span className="row-title">
          <Moment at={time} />
        </span>
        <span className="row-side">
          <span className="row-more">{facts.filter(Boolean).join(', ')}</span>
          <Badge kind={outcome === 'returned' ? 'good' : 'bad'}>{outcome}</Badge>
        </span>
      </summary>
      <p className="row-more">
        Run by {requesterName || requester}; trace <code>{traceId}</code>{' '}
        <Button kind="quiet" onPress={() => onRequester(requester)}>
          Only runs by {requesterName || requester}
        </Button>
      </p>
      <LogView log={log} />
    </details>
  );
}

interface FilterFormProps {
  filters: ExecutionFilters;
  onChange(some: Partial<ExecutionFilters>): void;
  isLive: boolean;
  onLive(isLive: boolean): void;
}

function FilterForm({ filters, onChange, isLive, onLive }: FilterFormProps) {
  return (
    <fieldset className="filters" aria-label="Filters">
      <Select
        label="Outcome"
        value={filters.outcome}
        options={outcomes}
        onChange={(outcome) => onChange({ outcome })}
      />
      <Select label="Time" value={filters.time} options={times} onChange={(time) => onChange({ time })} />
      <TextField
        label="Run by"
        help="As Practitioner/…"
        spellCheck="false"
        value={filters.requester}
        onChange={(requester) => onChange({ requester })}
      />
      <TextField
        label="Trace"
        help="The X-Trace-Id of a call"
        spellCheck="false"
        value={filters.trace}
        onChange={(trace) => onChange({ trace })}
      />
      <Switch isSelected={isLive} onChange={onLive}>
        Live
      </Switch>
    </fieldset>
  );
}

const valuesOf = <Value extends string>(options: readonly { value: Value }[]) =>
  options.map(({ value }) => value);

/** Which runs are wanted, as the address of the page says; the setter takes what changes. */
function useAddressFilters(): [ExecutionFilters, (some: Partial<ExecutionFilters>) => void] {
  const [outcome, setOutcome] = useAddressState('outcome', valuesOf(outcomes), '');
  const [time, setTime] = useAddressState('time', valuesOf(times), '');
  const [requester, setRequester] = useAddressText('by');
  const [trace, setTrace] = useAddressText('trace');
  // One object for equal filters: a list is loaded again for another.
  const filters = useMemo(() => ({ outcome, time, requester, trace }), [outcome, time, requester, trace]);
  return [
    filters,
    (some) => {
      if (some.outcome !== undefined) setOutcome(some.outcome);
      if (some.time !== undefined) setTime(some.time);
      if (some.requester !== undefined) setRequester(some.requester);
      if (some.trace !== undefined) setTrace(some.trace);
    },
  ];
}
