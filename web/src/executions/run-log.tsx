import { useEffect, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { TextWithPlaces } from '../bots/places.tsx';
import { listExecutions, type RunLog } from './executions.ts';

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** What a run wrote on its console. */
export function LogView({ log }: { log: RunLog | 'waiting' | 'missing' }) {
  if (log === 'waiting') return <p className="muted">Waiting for the record…</p>;
  if (log === 'missing') return <p className="muted">The record is not there yet: see Executions.</p>;
  if (log.entries.length === 0) return <p className="muted">Nothing was logged.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="output log" tabIndex={0} aria-label="Log">
      <ol>
        {log.entries.map(({ at, level, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log that is complete
          <li key={index} className={`log-${level}`}>
            <time dateTime={at}>{time.format(new Date(at))}</time>{' '}
            <code>
              <TextWithPlaces text={text} />
            </code>
          </li>
        ))}
      </ol>
      {log.isTruncated && <p className="muted">The rest was cut off.</p>}
    </section>
  );
}

const tries = 20;
const pauseMs = 300;

/** The log of a run, looked for until its record is there: records are listed a moment after the answer. */
export function useRunLog(botId: string, traceId: string | undefined): RunLog | 'waiting' | 'missing' {
  const api = useApi();
  const [log, setLog] = useState<RunLog | 'waiting' | 'missing'>('waiting');
  useEffect(() => {
    if (traceId === undefined) return;
    const gone = new AbortController();
    setLog('waiting');
    void look(gone.signal).then((found) => !gone.signal.aborted && setLog(found));
    return () => gone.abort();

    async function look(signal: AbortSignal): Promise<RunLog | 'missing'> {
      for (let tried = 0; tried < tries && !signal.aborted; tried++) {
        const { executions } = await listExecutions(api, botId, { signal, count: 5 }).catch(() => ({
          executions: [],
        }));
        const found = executions.find((execution) => execution.traceId === traceId);
        if (found) return found.log;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return 'missing';
    }
  }, [api, botId, traceId]);
  return log;
}
