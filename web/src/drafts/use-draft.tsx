import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useSession, useSessionState } from '../session/session-state.ts';
import { Button, Moment, Notice } from '../ui/basics.tsx';
import { type Draft, hasKept, isSame, keptInputsOf, readDraft, removeDraft, writeDraft } from './drafts.ts';

/** Work that can be saved: `begin` is what to begin with, the draft that was `found` or what is saved. */
export type DraftState<T extends object> = NonNullable<ReturnType<typeof useDraft<T>>>;

/** The draft, once it is known whether there is one; `round` rises when it begins anew. */
function useDraft<T extends object>(name: string, savedNow: T) {
  const session = useSession();
  const [begun, setBegun] = useState<{ begin: T; found: Draft<T> | undefined; round: number }>();
  const base = useRef(savedNow);
  const latest = useRef<T>(undefined);
  const wanted = useRef<T>(undefined);
  const written = useRef(Promise.resolve());
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

  /** One after the other, and only the latest: sealing takes a moment. Undefined for no draft. */
  const write = (value: T | undefined) => {
    wanted.current = value;
    if (value === undefined) removeDraft(session, name);
    written.current = written.current.then(async () => {
      if (wanted.current !== value) return;
      // The one before may have been sealed meanwhile.
      if (value === undefined) removeDraft(session, name);
      else await writeDraft(session, name, { value, base: base.current, atMs: Date.now() });
    });
  };
  if (!begun) return undefined;
  return {
    ...begun,
    /** Keeps what was typed; what equals the saved one needs no draft. */
    keep(value: T) {
      latest.current = value;
      write(isSame(value, base.current) ? undefined : value);
    },
    /** After saving: this is what is saved now. */
    saved(value: T) {
      base.current = value;
      // What was typed while it was being saved is not.
      write(isSame(latest.current, value) ? undefined : latest.current);
      setBegun((before) => before && { ...before, found: undefined });
    },
    discard() {
      write(undefined);
      latest.current = undefined;
      setBegun(({ round } = begun) => ({ begin: base.current, found: undefined, round: round + 1 }));
    },
  };
}

interface DraftedProps<T extends object> {
  name: string;
  savedNow: T;
  isNew?: boolean;
  children(draft: DraftState<T>): ReactNode;
}

/** Work on something that can be saved: what was typed and never saved is found again, and said to be that. */
export function Drafted<T extends object>({ name, savedNow, isNew = false, children }: DraftedProps<T>) {
  const draft = useDraft(name, savedNow);
  if (!draft) return null;
  const { found, discard, round } = draft;
  return (
    <>
      {found && (
        <Notice kind="plain">
          <p>
            These are your unsaved changes of <Moment at={new Date(found.atMs).toISOString()} />.{' '}
            {!isNew && !isSame(found.base, savedNow) && (
              <strong>Somebody has saved another version since: saving yours replaces it.</strong>
            )}
          </p>
          <Button onPress={discard}>Discard my changes</Button>
        </Notice>
      )}
      <Begun key={round}>{children(draft)}</Begun>
    </>
  );
}

/** Its key makes fields of their own of what is drawn in it. */
const Begun = ({ children }: { children: ReactNode }) => children;

/**
 * As `useState`, for what somebody types: it is there again when they come back to the page, also when they had
 * to sign in again meanwhile. Somebody else who signs in here finds nothing. It lives in memory only, since it may
 * hold health data; the browser asks before a reload throws it away.
 * @param name says what it is, once in the app; undefined for what is not kept
 */
export function useKept<T>(
  name: string | undefined,
  initial: T | (() => T),
): [T, (next: T | ((before: T) => T)) => void] {
  const { session } = useSessionState();
  const kept = session && name !== undefined ? keptInputsOf(session) : undefined;
  const [first] = useState(initial);
  const [value, setValue] = useState<T>(() =>
    name !== undefined && kept?.has(name) ? (kept.get(name) as T) : first,
  );
  const set = useCallback(
    (next: T | ((before: T) => T)) =>
      setValue((before) => {
        const now = typeof next === 'function' ? (next as (before: T) => T)(before) : next;
        if (name === undefined) return now;
        if (isSame(now, first)) kept?.delete(name);
        else kept?.set(name, now);
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
