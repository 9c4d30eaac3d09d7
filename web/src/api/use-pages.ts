import type { Bundle, Resource } from '@medplum/fhirtypes';
import { useCallback, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { isKeyOf } from '../../../shared/base/values.ts';
import { useSession } from '../session/session-state.ts';
import { nextOf, resourcesIn } from './fhir.ts';
import { useAction, useApi, useLoad } from './use-api.ts';

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
 * @param offered of a name by its values: any other in the address counts as the initial one
 */
export function useAddress<Values extends { [Name in keyof Values]: string }>(
  initial: Values,
  offered: { [Name in keyof Values]?: object } = {},
) {
  const [query, setQuery] = useSearchParams();
  const values = { ...initial };
  for (const name of Object.keys(initial) as (keyof Values & string)[]) {
    const text = query.get(name);
    if (text === null) continue;
    const choices = offered[name];
    if (!choices || isKeyOf(choices, text)) values[name] = text as Values[typeof name];
  }
  const change = (some: Partial<Values>) =>
    setQuery(
      (before) => {
        for (const name of Object.keys(some) as (keyof Values & string)[]) {
          const next = some[name] ?? initial[name];
          if (next === initial[name]) before.delete(name);
          else before.set(name, next);
        }
        // Another list: of this one nobody has seen more than its first page.
        before.delete(shown);
        return before;
      },
      { replace: true },
    );
  const field = <Name extends keyof Values>(name: Name) => ({
    value: values[name],
    onChange: (next: Values[Name]) => change({ [name]: next } as unknown as Partial<Values>),
  });
  return { values, change, field };
}

const shown = 'shown';

/** How much of a list was shown, as the address says; 0 where it says nothing. */
function shownIn(query: URLSearchParams): number {
  const count = Number(query.get(shown));
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** The page that `next` names, or the first one. */
export interface AskedPage {
  next?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A list as far as it was loaded. */
export interface LoadedPage<T> {
  items: T[];
  next: string | undefined;
  /** How many there are in all, where the service said: with the first page only. */
  total?: number | undefined;
}

export type Pages<T> = ReturnType<typeof usePages<T>>;

interface Memory<T> {
  before?: LoadedPage<T> | undefined;
  onSeen(page: LoadedPage<T>, isMore: boolean): void;
}

/** A list, page by page; another key begins another list. */
export function usePages<T>(
  key: string,
  read: (asked: AskedPage) => Promise<LoadedPage<T>>,
  memory?: Memory<T>,
) {
  const readFirst = async (signal: AbortSignal) => {
    const page = await read({ signal });
    if (!signal.aborted) memory?.onSeen(page, false);
    return page;
  };
  const first = useLoad(key, readFirst, memory?.before);
  const [longer, setLonger] = useState<{ first: LoadedPage<T> | undefined; all: LoadedPage<T> }>();
  // What was shown beyond a first page goes with it.
  const page = longer && longer.first === first.value ? longer.all : first.value;
  const more = useAction(async (next: string) => {
    const { items, next: following } = await read({ next });
    const all = { items: [...(page?.items ?? []), ...items], next: following, total: page?.total };
    setLonger({ first: first.value, all });
    memory?.onSeen(all, true);
  });
  const { reload: reloadFirst } = first;
  const { clear } = more;
  const reload = useCallback(() => {
    clear();
    reloadFirst();
  }, [clear, reloadFirst]);
  const next = page?.next;
  return {
    value: page?.items,
    total: page?.total,
    isLoading: first.isLoading || more.isBusy,
    message: first.message ?? more.message,
    /** There is no more when undefined. */
    loadMore: next === undefined ? undefined : () => void more.run(next),
    reload,
  };
}

/** A searchset of the API. */
export type SearchPages<R extends Resource> = ReturnType<typeof useSearch<R>>;

/**
 * A searchset, page by page. How much of it was loaded stands in the address: a reload shows as much again.
 * @param path of the first page
 */
export function useSearch<R extends Resource>(path: string) {
  const { get } = useApi();
  const { memory } = useSession();
  const seen = `list ${path}`;
  // The way back finds what was loaded.
  const [before] = useState(() => (cameBack() ? (memory.get(seen) as LoadedPage<R>) : undefined));
  const [query, setQuery] = useSearchParams();
  // As many as were there: what has changed meanwhile is shown, and nobody loses their place.
  const atFirst = useRef(before?.items.length ?? shownIn(query));
  const read = async ({ next, signal }: AskedPage) => {
    const from = next ?? withCount(path, atFirst.current);
    atFirst.current = 0;
    const bundle = await get<Bundle<R>>(from, signal);
    return { items: resourcesIn(bundle), next: nextOf(bundle), total: bundle.total };
  };
  const onSeen = (page: LoadedPage<R>, isMore: boolean) => {
    const noteShown = (asked: URLSearchParams) => {
      asked.set(shown, String(page.items.length));
      return asked;
    };
    if (isMore) setQuery(noteShown, { replace: true });
    memory.set(seen, page);
  };
  return { path, ...usePages<R>(path, read, { before, onSeen }) };
}

const mostOfPage = 1000;

/** @param count 0 for as many as the path says */
function withCount(path: string, count: number): string {
  if (count === 0) return path;
  const [start = '', search] = path.split('?');
  const query = new URLSearchParams(search);
  query.set('_count', String(Math.min(Math.max(count, Number(query.get('_count'))), mostOfPage)));
  return `${start}?${query}`;
}
