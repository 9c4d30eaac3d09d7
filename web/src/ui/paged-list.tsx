import type { Resource } from '@medplum/fhirtypes';
import { type ReactNode, useEffect, useRef } from 'react';
import { cameBack, type Pages } from '../api/use-pages.ts';
import { Bars, Retry, ShowMore } from './basics.tsx';

interface PagedListProps<R extends Resource> {
  pages: Pages<R>;
  label: string;
  row(resource: R): ReactNode;
  empty: ReactNode;
}

/** Rows, and more of them on demand. Whoever comes back from one finds it again. */
export function PagedList<R extends Resource>({ pages, label, row, empty }: PagedListProps<R>) {
  const { path, resources, isLoading, message, loadMore, reload } = pages;
  const { list, follow } = useRowPlace(path, resources !== undefined);
  return (
    <>
      {message !== undefined && <Retry message={message} onPress={reload} />}
      {resources === undefined && isLoading && <Bars />}
      {resources?.length === 0 && message === undefined && empty}
      {resources !== undefined && resources.length > 0 && (
        <ul className="rows" aria-label={label} aria-busy={isLoading} ref={list}>
          {resources.map((resource) => (
            <li
              className="row"
              key={resource.id}
              data-row={resource.id}
              onClickCapture={() => follow(resource.id ?? '')}
            >
              {row(resource)}
            </li>
          ))}
        </ul>
      )}
      <ShowMore onPress={resources && loadMore} isBusy={isLoading} />
    </>
  );
}

let left: { path: string; id: string } | undefined;

/**
 * Leads somebody who comes back to a list to the row that they had followed: into view, with the focus.
 * @param path names the list
 * @param isShown once its rows are there
 * @returns what the list calls with the row that is followed, and the row's ref
 */
export function useRowPlace<Container extends HTMLElement = HTMLUListElement>(
  path: string | undefined,
  isShown: boolean,
) {
  const list = useRef<Container>(null);
  useEffect(() => {
    if (!isShown || !cameBack() || left === undefined || left.path !== path) return;
    const { id } = left;
    left = undefined;
    // The page's heading takes the focus when the page opens: after that.
    const frame = requestAnimationFrame(() => {
      const row = list.current?.querySelector(`[data-row="${CSS.escape(id)}"]`);
      row?.scrollIntoView({ block: 'center' });
      row?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [path, isShown]);
  return {
    list,
    follow: (id: string) => {
      left = path === undefined ? undefined : { path, id };
    },
  };
}

/** Is done when an element comes near the window. @param act undefined while there is nothing to do */
export function useWhenSeen(act: (() => void) | undefined) {
  const element = useRef<HTMLDivElement>(null);
  const latest = useRef(act);
  latest.current = act;
  const isWaiting = act !== undefined;
  useEffect(() => {
    const watched = element.current;
    if (!watched || !isWaiting) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && latest.current?.(),
      { rootMargin: '200px' },
    );
    observer.observe(watched);
    return () => observer.disconnect();
  }, [isWaiting]);
  return element;
}

interface SortHeaderProps {
  label: string;
  /** What `_sort` calls the column. */
  by: string;
  /** The order that holds, `-` in front for descending. */
  sort: string;
  onSort(sort: string): void;
  className?: string;
}

/** The head of a column that the table can be sorted by; pressed again, the other way round. */
export function SortHeader({ label, by, sort, onSort, className = '' }: SortHeaderProps) {
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;
  return (
    <th scope="col" className={className} {...(order ? { 'aria-sort': order } : {})}>
      <button type="button" className="sort" onClick={() => onSort(sort === by ? `-${by}` : by)}>
        {label}
        <span aria-hidden="true">{order === undefined ? '' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
      </button>
    </th>
  );
}
