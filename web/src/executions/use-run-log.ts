import { useEffect, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { listExecutions, type RunLog } from './executions.ts';

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
