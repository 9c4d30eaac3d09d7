import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import type { Tokens } from '../../../client/src/index.ts';
import { refreshTokenStore } from './refresh-token-store.ts';
import { openSession, type Session } from './session.ts';

interface SessionState {
  session: Session | undefined;
  /** Why there is none, when there was one. */
  notice: string | undefined;
  begin(tokens: Tokens): Promise<void>;
  end(notice?: string): void;
}

const SessionContext = createContext<SessionState | undefined>(undefined);

export function SessionProvider({
  restored,
  children,
}: {
  restored: Session | undefined;
  children: ReactNode;
}) {
  const [session, setSession] = useState(restored);
  const [notice, setNotice] = useState<string>();
  const begin = useCallback(async (tokens: Tokens) => {
    setSession(await openSession(tokens));
    setNotice(undefined);
  }, []);
  const end = useCallback((why?: string) => {
    refreshTokenStore.write(undefined);
    setSession(undefined);
    setNotice(why);
  }, []);
  const state = useMemo(() => ({ session, notice, begin, end }), [session, notice, begin, end]);
  return <SessionContext value={state}>{children}</SessionContext>;
}

export function useSessionState(): SessionState {
  const state = useContext(SessionContext);
  if (!state) throw new Error('No SessionProvider');
  return state;
}

/** Only below the signed-in part of the app. */
export function useSession(): Session {
  const { session } = useSessionState();
  if (!session) throw new Error('Nobody is signed in');
  return session;
}
