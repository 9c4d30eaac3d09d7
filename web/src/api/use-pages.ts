import type { Bundle, Resource } from '@medplum/fhirtypes';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Session } from '../session/session.ts';
import { useSession } from '../session/session-context.tsx';
import { cameBack } from './came-back.ts';
import { messageOf } from './message-of.ts';
import { useAddressCount } from './use-address-state.ts';
import { useApi } from './use-api.ts';

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
