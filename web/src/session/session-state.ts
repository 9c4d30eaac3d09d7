import type { Tokens } from '../../../client/src/index.ts';
import { forgetAllKept, forgetDrafts } from '../drafts/drafts.ts';
import { leaveForIdleness, noticeOfLeaving } from '../idle/idle-watch.ts';
import { keptSession, onKeptSession, type SessionNews } from './kept-session.ts';
import { observable, useObserved } from './observable.ts';
import { beginSession, restoreSession, type Session } from './session.ts';

/** What the sign-in page says when the service has ended the session. */
export const endedNotice = 'Your session has ended. Sign in again.';
const signedOutNotice = 'You are signed out.';

interface SessionState {
  session: Session | undefined;
  /** Why there is none, when there was one. */
  notice?: string | undefined;
  /** Another tab has signed in as somebody else or to another Project: this page is of the session before. */
  isReplaced: boolean;
}

/** The session of this browser, as this tab sees it: signing in and out holds for all tabs. */
const state = observable<SessionState>({ session: undefined, isReplaced: false });
/** Its end for idleness is under way. */
let isLeaving = false;

function show(session: Session | undefined, notice?: string): void {
  state.set({ session, notice, isReplaced: false });
}

function logOut(session: Session | undefined): void {
  void session?.portico.fetch('oauth2/logout', { method: 'POST' }).catch(() => undefined);
}

function forget(session: Session): void {
  forgetDrafts(session);
  forgetAllKept();
}

function leave(): void {
  forgetAllKept();
  show(undefined);
  leaveForIdleness();
  isLeaving = false;
}

/** When the app is opened: goes on with the session that this browser has. */
export async function openSessionState(): Promise<void> {
  show(await restoreSession(), noticeOfLeaving());
  onKeptSession(heed);
}

async function heed({ id, by }: SessionNews): Promise<void> {
  const { session: own } = state.get();
  if (isLeaving) return;
  if (!own) {
    if (id) show(await restoreSession());
    return;
  }
  if (by === 'idleness') return leave();
  if (by === 'person') forget(own);
  if (!id) show(undefined, by === 'person' ? signedOutNotice : endedNotice);
  else state.set({ ...state.get(), isReplaced: id !== own.id });
}

export async function startSession(tokens: Tokens): Promise<void> {
  const { session: before } = state.get();
  show(await beginSession(tokens));
  logOut(before);
}

/** The service has ended it: what is not saved waits for the next one. */
export function endSession(why?: string): void {
  const { session } = state.get();
  if (session) keptSession.clear(session.id);
  show(undefined, why);
}

/** Nobody has used it: what an editor holds waits, what else was typed or shown is gone. */
export async function endIdleSession(): Promise<void> {
  const { session } = state.get();
  if (!session || isLeaving) return;
  isLeaving = true;
  await session.endForIdleness();
  keptSession.clear(session.id, 'idleness');
  leave();
}

/** The person ends it: nothing stays behind on the device. */
export function signOut(): void {
  const { session } = state.get();
  if (!session) return;
  logOut(session);
  forget(session);
  keptSession.clear(session.id, 'person');
  show(undefined, signedOutNotice);
}

export function useSessionState(): SessionState {
  return useObserved(state);
}

/** Only below the signed-in part of the app. */
export function useSession(): Session {
  const { session } = useSessionState();
  if (!session) throw new Error('Nobody is signed in');
  return session;
}
