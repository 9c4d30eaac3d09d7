import type { Bot } from '@medplum/fhirtypes';
import { LogView } from '../executions/log-view.tsx';
import { useRunLog } from '../executions/use-run-log.ts';
import { Badge } from '../ui/badge.tsx';
import { Output } from '../ui/output.tsx';
import { TextWithPlaces } from '../workbench/places.tsx';
import type { Run } from './run-bot.ts';

const milliseconds = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'millisecond',
  maximumFractionDigits: 0,
});

/** The answer to a run, its time and its log. */
export function RunResult({ bot, run, isBusy }: { bot: Bot; run: Run | undefined; isBusy: boolean }) {
  const log = useRunLog(bot.id ?? '', run?.traceId);
  return (
    <section className="card" aria-label="Answer" aria-live="polite" aria-busy={isBusy}>
      <h2>Answer</h2>
      {!run && <p className="muted">{isBusy ? 'Running…' : 'Nothing has run yet.'}</p>}
      {run && (
        <>
          <div className="row-side">
            <Badge kind={run.isGood ? 'good' : 'bad'}>{run.status}</Badge>
            <Badge>{milliseconds.format(run.durationMs)}</Badge>
            <span className="row-more">{run.contentType}</span>
          </div>
          <Output label="Body of the answer">
            <TextWithPlaces text={run.body === '' ? '(empty)' : run.body} />
          </Output>
          <h2>Log</h2>
          <LogView log={log} />
        </>
      )}
    </section>
  );
}
