import { useCallback, useEffect, useState } from 'react';
import { messageOf } from './message-of.ts';

export type Loaded<T> =
  | { state: 'loading'; value?: T }
  | { state: 'failed'; message: string; value?: T }
  | { state: 'ready'; value: T };

/**
 * Loads something when the page opens and whenever `load` changes (keep it in useCallback). What was
 * loaded stays in view while it is loaded again.
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> & { reload(): void } {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  useEffect(() => {
    void round;
    const gone = new AbortController();
    const unlessGone = (next: (before: Loaded<T>) => Loaded<T>) => {
      if (!gone.signal.aborted) setLoaded(next);
    };
    setLoaded((before) => withValue({ state: 'loading' }, before));
    load(gone.signal).then(
      (value) => unlessGone(() => ({ state: 'ready', value })),
      (error: unknown) =>
        unlessGone((before) => withValue({ state: 'failed', message: messageOf(error) }, before)),
    );
    return () => gone.abort();
  }, [load, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...loaded, reload };
}

function withValue<T>(next: Loaded<T>, before: Loaded<T>): Loaded<T> {
  return before.value === undefined ? next : { ...next, value: before.value };
}
