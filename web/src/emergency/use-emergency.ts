import { useEffect, useState, useSyncExternalStore } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useSession } from '../session/session-context.tsx';
import type { Emergency } from './emergency.ts';

const tickMs = 60_000;

/** The emergency access of whoever is signed in; `prepared` is undefined for whom there is none. */
export function useEmergency() {
  const { me, emergency } = useSession();
  const { get, send } = useApi();
  const [prepared, setPrepared] = useState(me.emergency);
  const [nowMs, setNowMs] = useState(Date.now);
  const isPrepared = prepared !== undefined;
  const isActive = prepared?.active !== undefined;
  const isSaid = useSyncExternalStore(emergency.subscribe, emergency.isOn);
  // It may begin or end in another tab, by an administrator, or by the clock of the service, which decides.
  useEffect(() => {
    if (!isPrepared && !isSaid) return;
    const gone = new AbortController();
    const ask = () => {
      setNowMs(Date.now());
      get<{ emergency?: Emergency }>('auth/me', gone.signal).then(
        (answer) => setPrepared(answer.emergency),
        () => undefined,
      );
    };
    ask();
    const asking = isActive ? setInterval(ask, tickMs) : undefined;
    return () => {
      gone.abort();
      clearInterval(asking);
    };
  }, [get, isPrepared, isActive, isSaid]);
  const leftMs = prepared?.active ? Date.parse(prepared.active.until) - nowMs : 0;
  const take = useAction(async (reason: string) => {
    setPrepared(await send<Emergency>('POST', 'auth/emergency', { reason }));
    setNowMs(Date.now());
    return true;
  });
  const end = useAction(async () => {
    await send('DELETE', 'auth/emergency');
    setPrepared((before) => before && { ...before, active: undefined });
  });
  return { prepared, minutesLeft: isActive ? Math.max(1, Math.ceil(leftMs / 60_000)) : 0, take, end };
}
