import type { Bundle, Resource } from '@medplum/fhirtypes';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Session } from '../session/session.ts';
import { useSession } from '../session/session-context.tsx';
import { messageOf, useApi } from './use-api.ts';

let isBack = false;

/** Whether the page that is shown was come back to, with the browser's own button. */
export function cameBack(): boolean {
  return isBack;
}

// wouter tells of the addresses that it goes to by events of these names.
addEventListener('popstate', () => {
  isBack = true;
});
addEventListener('pushState', () => {
  isBack = false;
});

/**
 * What is chosen on a page, kept in its address: a reload, a bookmark and the way back find it again. What
 * the page begins with is left out of the address.
 * @param allowed any other value in the address counts as `initial`
 */
export function useAddressState<Value extends string>(
  name: string,
  allowed: readonly Value[],
  initial: Value,
): [Value, (next: Value) => void] {
  const [text, setText] = useAddressText(name);
  const value = allowed.find((one) => one === text) ?? initial;
  return [value, (next: Value) => setText(next === initial ? '' : next)];
}

/** The same for a text that a person types. */
export function useAddressText(name: string): [string, (next: string) => void] {
  const [query, setQuery] = useSearchParams();
  const write = (next: string) =>
    setQuery(
      (before) => {
        if (next === '') before.delete(name);
        else before.set(name, next);
        // Another list: of this one nobody has seen more than its first page.
        before.delete(shown);
        return before;
      },
      { replace: true },
    );
  return [query.get(name) ?? '', write];
}

const shown = 'shown';

/** How many rows of the page's list were loaded, beyond its first page. */
function useAddressCount(): [number, (next: number) => void] {
  const [query, setQuery] = useSearchParams();
  const write = (next: number) =>
    setQuery(
      (before) => {
        before.set(shown, String(next));
        return before;
      },
      { replace: true },
    );
  const count = Number(query.get(shown));
  return [Number.isSafeInteger(count) && count > 0 ? count : 0, write];
}

export interface Pages<R extends Resource> {
  /** Names the list: its address. */
  path: string | undefined;
  /** Undefined until the first page is there. */
  resources: R[] | undefined;
  /** How many there are in all, where the service said. */
  total: number | undefined;
  isLoading: boolean;
  message: string | undefined;
  /** There is no more when undefined. */
  loadMore: (() => void) | undefined;
  reload(): void;
}

interface Seen {
  resources: Resource[];
  total: number | undefined;
  next: string | undefined;
}

/** What was loaded of each list, in memory and of this session only: the way back finds it again. */
const seenBy = new WeakMap<Session, Map<string, Seen>>();

/**
 * A searchset, page by page. How much of it was loaded stands in the address: a reload shows as much again.
 * @param path of the first page; undefined loads nothing yet
 */
export function usePages<R extends Resource>(path: string | undefined): Pages<R> {
  const api = useApi();
  const session = useSession();
  const [before] = useState(() => (cameBack() && path ? seenBy.get(session)?.get(path) : undefined));
  const [resources, setResources] = useState(before?.resources as R[] | undefined);
  const [total, setTotal] = useState(before?.total);
  const [next, setNext] = useState(before?.next);
  const [isLoading, setLoading] = useState(path !== undefined && !before);
  const [message, setMessage] = useState<string>();
  const [round, setRound] = useState(0);
  const [shown, setShown] = useAddressCount();
  const noteShown = useRef(setShown);
  noteShown.current = setShown;
  const shownAtFirst = useRef(before?.resources.length ?? shown);
  const isFirst = useRef(true);
  const totalSeen = useRef(before?.total);

  const load = useCallback(
    async (from: string, loaded: R[], signal?: AbortSignal) => {
      setLoading(true);
      setMessage(undefined);
      try {
        const bundle = await api.get<Bundle<R>>(from, signal);
        if (signal?.aborted) return;
        const all = [...loaded, ...(bundle.entry ?? []).flatMap(({ resource }) => resource ?? [])];
        const following = bundle.link?.find(({ relation }) => relation === 'next')?.url;
        setResources(all);
        setNext(following);
        // Only the first page tells.
        const known = loaded.length === 0 ? bundle.total : totalSeen.current;
        totalSeen.current = known;
        setTotal(known);
        setLoading(false);
        if (loaded.length > 0) noteShown.current(all.length);
        if (path !== undefined) keep(session, path, { resources: all, total: known, next: following });
      } catch (error) {
        if (signal?.aborted) return;
        setMessage(messageOf(error));
        setLoading(false);
      }
    },
    [api, session, path],
  );
  useEffect(() => {
    void round;
    if (path === undefined) return;
    const gone = new AbortController();
    // As many as were there: what has changed meanwhile is shown, and nobody loses their place.
    const count = isFirst.current ? shownAtFirst.current : 0;
    isFirst.current = false;
    void load(count > 0 ? withCount(path, count) : path, [], gone.signal);
    return () => gone.abort();
  }, [path, load, round]);
  return {
    path,
    resources,
    total,
    isLoading,
    message,
    loadMore: next === undefined ? undefined : () => void load(next, resources ?? []),
    reload: useCallback(() => setRound((earlier) => earlier + 1), []),
  };
}

function keep(session: Session, path: string, seen: Seen): void {
  const lists = seenBy.get(session) ?? new Map<string, Seen>();
  lists.set(path, seen);
  seenBy.set(session, lists);
}

const mostOfPage = 1000;

function withCount(path: string, count: number): string {
  const [start = '', search] = path.split('?');
  const query = new URLSearchParams(search);
  query.set('_count', String(Math.min(Math.max(count, Number(query.get('_count'))), mostOfPage)));
  return `${start}?${query}`;
}
