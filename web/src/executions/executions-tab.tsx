import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useEffect, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useAddressState } from '../api/use-address-state.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Failure } from '../ui/notice.tsx';
import { ExecutionRow } from './execution-row.tsx';
import { listExecutions } from './executions.ts';
import { FilterForm } from './filter-form.tsx';
import type { ExecutionFilters } from './filters.ts';
import { useAddressFilters } from './use-address-filters.ts';

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
