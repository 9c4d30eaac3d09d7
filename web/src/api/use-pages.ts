import type { Bundle, Resource } from '@medplum/fhirtypes';
import { useCallback, useEffect, useState } from 'react';
import { messageOf } from './message-of.ts';
import { useApi } from './use-api.ts';

export interface Pages<R extends Resource> {
  /** Undefined until the first page is there. */
  resources: R[] | undefined;
  isLoading: boolean;
  message: string | undefined;
  /** There is no more when undefined. */
  loadMore: (() => void) | undefined;
  reload(): void;
}

/** A searchset, page by page. @param path of the first page; undefined loads nothing yet */
export function usePages<R extends Resource>(path: string | undefined): Pages<R> {
  const api = useApi();
  const [resources, setResources] = useState<R[]>();
  const [next, setNext] = useState<string>();
  const [isLoading, setLoading] = useState(path !== undefined);
  const [message, setMessage] = useState<string>();
  const [round, setRound] = useState(0);

  const load = useCallback(
    async (from: string, before: R[], signal?: AbortSignal) => {
      setLoading(true);
      setMessage(undefined);
      try {
        const bundle = await api.get<Bundle<R>>(from, signal);
        if (signal?.aborted) return;
        setResources([...before, ...(bundle.entry ?? []).flatMap(({ resource }) => resource ?? [])]);
        setNext(bundle.link?.find(({ relation }) => relation === 'next')?.url);
        setLoading(false);
      } catch (error) {
        if (signal?.aborted) return;
        setMessage(messageOf(error));
        setLoading(false);
      }
    },
    [api],
  );
  useEffect(() => {
    void round;
    if (path === undefined) return;
    const gone = new AbortController();
    void load(path, [], gone.signal);
    return () => gone.abort();
  }, [path, load, round]);
  return {
    resources,
    isLoading,
    message,
    loadMore: next === undefined ? undefined : () => void load(next, resources ?? []),
    reload: useCallback(() => setRound((before) => before + 1), []),
  };
}
