import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../session/session-context.tsx';
import { isSame } from './is-same.ts';
import { hasKept, keptInputsOf } from './kept-inputs.ts';

/**
 * As `useState`, for what somebody types: it is there again when they come back to the page, also when they had
 * to sign in again meanwhile. Somebody else who signs in here finds nothing. It lives in memory only, since it may
 * hold health data; the browser asks before a reload throws it away.
 * @param name says what it is, once in the app
 */
export function useKept<T>(name: string, initial: T): [T, (next: T | ((before: T) => T)) => void] {
  const { me } = useSession();
  const kept = keptInputsOf(`${me.user?.id ?? me.profile.id} ${me.project.id}`);
  const [first] = useState(initial);
  const [value, setValue] = useState<T>(() => (kept.has(name) ? (kept.get(name) as T) : initial));
  const set = useCallback(
    (next: T | ((before: T) => T)) =>
      setValue((before) => {
        const now = typeof next === 'function' ? (next as (before: T) => T)(before) : next;
        if (isSame(now, first)) kept.delete(name);
        else kept.set(name, now);
        return now;
      }),
    [kept, name, first],
  );
  return [value, set];
}

/** Lets the browser ask before the page goes, while something would be lost. */
export function useReloadWarning(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (hasKept()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
}
