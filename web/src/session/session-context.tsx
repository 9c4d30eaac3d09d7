import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Tokens } from '../../../client/src/index.ts';
import { forgetAllKept, forgetDrafts } from '../drafts/drafts.ts';
import { leaveForIdleness } from '../idle/idle-watch.ts';
import { keptSession, onKeptSession } from './kept-session.ts';
import { beginSession, restoreSession, type Session } from './session.ts';

interface SessionState {
  session: Session | undefined;
  /** Why there is none, when there was one. */
  notice: string | undefined;
  /** Another tab has signed in as somebody else or to another Project: this page is of the session before. */
  isReplaced: boolean;
  begin(tokens: Tokens): Promise<void>;
  /** The service has ended it: what is not saved waits for the next one. */
  end(notice?: string): void;
  /** Nobody has used it: what an editor holds waits, what else was typed or shown is gone. */
  endIdle(): void;
  /** The person ends it: nothing stays behind on the device. */
  signOut(): void;
}

/** What the sign-in page says when the service has ended the session. */
export const endedNotice = 'Your session has ended. Sign in again.';

const SessionContext = createContext<SessionState | undefined>(undefined);

/** The session of this browser, as this tab sees it: signing in and out holds for all tabs. */
export function SessionProvider({
  restored,
  told,
  children,
}: {
  restored: Session | undefined;
  /** Why there is none. */
  told: string | undefined;
  children: ReactNode;
}) {
  const [session, setSession] = useState(restored);
  const [notice, setNotice] = useState(told);
  const [isReplaced, setReplaced] = useState(false);
  const latest = useRef(session);
  const show = useCallback((next: Session | undefined, why?: string) => {
    latest.current = next;
    setSession(next);
    setNotice(why);
    setReplaced(false);
  }, []);
  const begin = useCallback(
    async (tokens: Tokens) => {
      const before = latest.current;
      show(await beginSession(tokens));
      void before?.portico.fetch('oauth2/logout', { method: 'POST' }).catch(() => undefined);
    },
    [show],
  );
  const end = useCallback(
    (why?: string) => {
      if (latest.current) keptSession.clear(latest.current.id);
      show(undefined, why);
    },
    [show],
  );
  const leave = useCallback(() => {
    forgetAllKept();
    show(undefined);
    leaveForIdleness();
  }, [show]);
  const endIdle = useCallback(async () => {
    const own = latest.current;
    if (!own) return;
    latest.current = undefined;
    await own.endForIdleness();
    keptSession.clear(own.id, 'idleness');
    leave();
  }, [leave]);
  const signOut = useCallback(() => {
    const own = latest.current;
    if (!own) return;
    void own.portico.fetch('oauth2/logout', { method: 'POST' }).catch(() => undefined);
    forgetDrafts(own);
    forgetAllKept();
    keptSession.clear(own.id, 'person');
    show(undefined, 'You are signed out.');
  }, [show]);
  useEffect(
    () =>
      onKeptSession(async ({ id, by }) => {
        const own = latest.current;
        const isSignOut = by === 'person';
        if (own && by === 'idleness') return leave();
        if (own && isSignOut) {
          forgetDrafts(own);
          forgetAllKept();
        }
        if (own && !id) show(undefined, isSignOut ? 'You are signed out.' : endedNotice);
        else if (own) setReplaced(id !== own.id);
        else if (id) show(await restoreSession());
      }),
    [show, leave],
  );
  const state = useMemo(
    () => ({ session, notice, isReplaced, begin, end, endIdle, signOut }),
    [session, notice, isReplaced, begin, end, endIdle, signOut],
  );
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
