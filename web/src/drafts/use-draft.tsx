import { useCallback, useEffect, useRef, useState } from 'react';
import { useSession } from '../session/session-context.tsx';
import { Button, Moment, Notice } from '../ui/basics.tsx';
import { type Draft, hasKept, isSame, keptInputsOf, readDraft, removeDraft, writeDraft } from './drafts.ts';

export interface DraftState<T> {
  /** What to begin with: the draft, or what is saved. Undefined until that is known. */
  begin: T | undefined;
  /** The draft that it begins with, if there is one. */
  found: Draft<T> | undefined;
  /** Keeps what was typed; what equals the saved one needs no draft. */
  keep(value: T): void;
  /** After saving: this is what is saved now. */
  saved(value: T): void;
  /** Back to what is saved. */
  discard(): void;
  /** Rises when it begins anew: a key for the fields. */
  round: number;
}

interface Writing<T> {
  next: T | undefined;
  isBusy: boolean;
  /** The draft that is being sealed is not wanted any more. */
  isForgotten: boolean;
}

/** Work on something that can be saved, kept on the device until it is. @param name of what is worked on */
export function useDraft<T extends object>(name: string, savedNow: T): DraftState<T> {
  const session = useSession();
  const [begun, setBegun] = useState<{ begin: T; found: Draft<T> | undefined; round: number }>();
  const base = useRef(savedNow);
  const latest = useRef<T>(undefined);
  const writing = useRef<Writing<T>>({ next: undefined, isBusy: false, isForgotten: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is saved is looked at when the work begins
  useEffect(() => {
    let isGone = false;
    void readDraft<T>(session, name).then((found) => {
      if (!isGone) setBegun({ begin: found?.value ?? savedNow, found, round: 0 });
    });
    return () => {
      isGone = true;
    };
  }, [session, name]);

  /** One after the other, and only the latest: sealing takes a moment. */
  const write = useCallback(async () => {
    const state = writing.current;
    if (state.isBusy) return;
    state.isBusy = true;
    while (state.next !== undefined) {
      const value = state.next;
      state.next = undefined;
      state.isForgotten = false;
      await writeDraft(session, name, { value, base: base.current, atMs: Date.now() });
      if (state.isForgotten) removeDraft(session, name);
    }
    state.isBusy = false;
  }, [session, name]);

  const forget = () => {
    writing.current.next = undefined;
    writing.current.isForgotten = true;
    removeDraft(session, name);
  };
  return {
    begin: begun?.begin,
    round: begun?.round ?? 0,
    found: begun?.found,
    keep(value) {
      latest.current = value;
      if (isSame(value, base.current)) return forget();
      writing.current.next = value;
      void write();
    },
    saved(value) {
      base.current = value;
      // What was typed while it was being saved is not.
      if (latest.current === undefined || isSame(latest.current, value)) forget();
      else {
        writing.current.next = latest.current;
        void write();
      }
      setBegun((before) => before && { ...before, found: undefined });
    },
    discard() {
      forget();
      latest.current = undefined;
      setBegun((before) => ({ begin: base.current, found: undefined, round: (before?.round ?? 0) + 1 }));
    },
  };
}

interface Props<T> {
  draft: Draft<T> | undefined;
  /** Undefined when nothing is saved yet. */
  savedNow: T | undefined;
  onDiscard(): void;
}

/** Says that what is shown was never saved. */
export function DraftNotice<T>({ draft, savedNow, onDiscard }: Props<T>) {
  if (!draft) return null;
  return (
    <Notice kind="plain">
      <p>
        These are your unsaved changes of <Moment at={new Date(draft.atMs).toISOString()} />.{' '}
        {savedNow !== undefined && !isSame(draft.base, savedNow) && (
          <strong>Somebody has saved another version since: saving yours replaces it.</strong>
        )}
      </p>
      <Button onPress={onDiscard}>Discard my changes</Button>
    </Notice>
  );
}

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
