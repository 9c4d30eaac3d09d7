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
import { forgetDrafts } from '../drafts/drafts.ts';
import { forgetAllKept } from '../drafts/kept-inputs.ts';
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
  /** The person ends it: nothing stays behind on the device. */
  signOut(): void;
}

/** What the sign-in page says when the service has ended the session. */
export const endedNotice = 'Your session has ended. Sign in again.';

const SessionContext = createContext<SessionState | undefined>(undefined);

/** The session of this browser, as this tab sees it: signing in and out holds for all tabs. */
export function SessionProvider({
  restored,
  children,
}: {
  restored: Session | undefined;
  children: ReactNode;
}) {
  const [session, setSession] = useState(restored);
  const [notice, setNotice] = useState<string>();
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
  const signOut = useCallback(() => {
    const own = latest.current;
    if (!own) return;
    void own.portico.fetch('oauth2/logout', { method: 'POST' }).catch(() => undefined);
    forgetDrafts(own);
    forgetAllKept();
    keptSession.clear(own.id, { isSignOut: true });
    show(undefined, 'You are signed out.');
  }, [show]);
  useEffect(
    () =>
      onKeptSession(async ({ id, isSignOut }) => {
        const own = latest.current;
        if (own && isSignOut) {
          forgetDrafts(own);
          forgetAllKept();
        }
        if (own && !id) show(undefined, isSignOut ? 'You are signed out.' : endedNotice);
        else if (own) setReplaced(id !== own.id);
        else if (id) show(await restoreSession());
      }),
    [show],
  );
  const state = useMemo(
    () => ({ session, notice, isReplaced, begin, end, signOut }),
    [session, notice, isReplaced, begin, end, signOut],
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
