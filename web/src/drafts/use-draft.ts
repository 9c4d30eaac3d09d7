import { useCallback, useEffect, useRef, useState } from 'react';
import { useSession } from '../session/session-context.tsx';
import { type Draft, readDraft, removeDraft, writeDraft } from './drafts.ts';
import { isSame } from './is-same.ts';

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
