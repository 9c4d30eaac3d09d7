import { useEffect, useState } from 'react';
import type { SaidSchedule, Scheduled } from './schedule-words.ts';

/** A schedule in words, once what reads it is loaded. Keep `bot` in useMemo. */
export function useSaidSchedule(bot: Scheduled): SaidSchedule | { fault: string } | undefined {
  const [said, setSaid] = useState<SaidSchedule | { fault: string }>();
  useEffect(() => {
    const gone = new AbortController();
    void import('./schedule-words.ts').then(({ saySchedule }) => {
      if (!gone.signal.aborted) setSaid(saySchedule(bot, Date.now()));
    });
    return () => gone.abort();
  }, [bot]);
  return said;
}
