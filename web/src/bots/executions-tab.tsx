import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Failure } from '../ui/notice.tsx';
import { type Execution, listExecutions } from './executions.ts';
import { LogView } from './log-view.tsx';

/** A Bot's runs with their logs, newest first. */
export function ExecutionsTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const id = bot.id ?? '';
  const load = useCallback((signal: AbortSignal) => listExecutions(api, id, { signal }), [api, id]);
  const loaded = useLoad(load);
  return (
    <>
      <div>
        <Button onPress={loaded.reload}>Refresh</Button>
      </div>
      <Loading of={loaded}>
        {(first) =>
          first.executions.length === 0 ? (
            <Empty title="It has not run yet" />
          ) : (
            <Executions key={first.executions[0]?.id} botId={id} first={first} />
          )
        }
      </Loading>
    </>
  );
}

type Listed = Awaited<ReturnType<typeof listExecutions>>;

function Executions({ botId, first }: { botId: string; first: Listed }) {
  const api = useApi();
  const [{ executions, next }, setListed] = useState(first);
  const more = useAction(async () => {
    if (next === undefined) return;
    const page = await listExecutions(api, botId, { from: next });
    setListed({ executions: [...executions, ...page.executions], next: page.next });
  });
  return (
    <>
      <ul className="rows" aria-label="Executions">
        {executions.map((execution) => (
          <li className="row" key={execution.id}>
            <ExecutionRow execution={execution} />
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

function ExecutionRow({ execution }: { execution: Execution }) {
  const { time, outcome, durationMs, inputType, version, log } = execution;
  return (
    <details className="record">
      <summary>
        <span className="row-title">
          <Moment at={time} />
        </span>
        <span className="row-side">
          <span className="row-more">
            {inputType}, {durationMs} ms, version {version.slice(0, 8)}
          </span>
          <Badge kind={outcome === 'returned' ? 'good' : 'bad'}>{outcome}</Badge>
        </span>
      </summary>
      <LogView log={log} />
    </details>
  );
}
