import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import type { Tokens } from '../../../client/src/index.ts';
import { forgetAllKept, forgetDrafts } from '../drafts/drafts.ts';
import { leaveForIdleness } from '../idle/idle-watch.ts';
import { keptSession, onKeptSession, type SessionNews } from './kept-session.ts';
import { beginSession, restoreSession, type Session } from './session.ts';

type SessionState = ReturnType<typeof useOwnSession>;

/** What the sign-in page says when the service has ended the session. */
export const endedNotice = 'Your session has ended. Sign in again.';
const signedOutNotice = 'You are signed out.';

const SessionContext = createContext<SessionState | undefined>(undefined);

interface SessionProviderProps {
  restored: Session | undefined;
  /** Why there is none. */
  told: string | undefined;
  children: ReactNode;
}

/** The session of this browser, as this tab sees it: signing in and out holds for all tabs. */
export function SessionProvider({ restored, told, children }: SessionProviderProps) {
  return <SessionContext value={useOwnSession(restored, told)}>{children}</SessionContext>;
}

/**
 * `notice` says why there is no session, when there was one; `isReplaced` that another tab has signed in as somebody else
 * or to another Project: this page is of the session before.
 */
function useOwnSession(restored: Session | undefined, told: string | undefined) {
  const [shown, setShown] = useState({ session: restored, notice: told, isReplaced: false });
  const latest = useRef(restored);
  const actions = useMemo(() => {
    const show = (session: Session | undefined, notice?: string) => {
      latest.current = session;
      setShown({ session, notice, isReplaced: false });
    };
    const logOut = (session: Session | undefined) =>
      void session?.portico.fetch('oauth2/logout', { method: 'POST' }).catch(() => undefined);
    const forget = (session: Session) => {
      forgetDrafts(session);
      forgetAllKept();
    };
    const leave = () => {
      forgetAllKept();
      show(undefined);
      leaveForIdleness();
    };
    return {
      async begin(tokens: Tokens) {
        const before = latest.current;
        show(await beginSession(tokens));
        logOut(before);
      },
      /** The service has ended it: what is not saved waits for the next one. */
      end(why?: string) {
        if (latest.current) keptSession.clear(latest.current.id);
        show(undefined, why);
      },
      /** Nobody has used it: what an editor holds waits, what else was typed or shown is gone. */
      async endIdle() {
        const own = latest.current;
        if (!own) return;
        latest.current = undefined;
        await own.endForIdleness();
        keptSession.clear(own.id, 'idleness');
        leave();
      },
      /** The person ends it: nothing stays behind on the device. */
      signOut() {
        const own = latest.current;
        if (!own) return;
        logOut(own);
        forget(own);
        keptSession.clear(own.id, 'person');
        show(undefined, signedOutNotice);
      },
      async onNews({ id, by }: SessionNews) {
        const own = latest.current;
        if (!own) return id && show(await restoreSession());
        if (by === 'idleness') return leave();
        if (by === 'person') forget(own);
        if (!id) show(undefined, by === 'person' ? signedOutNotice : endedNotice);
        else setShown((before) => ({ ...before, isReplaced: id !== own.id }));
      },
    };
  }, []);
  useEffect(() => onKeptSession(actions.onNews), [actions]);
  return useMemo(() => ({ ...shown, ...actions }), [shown, actions]);
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
