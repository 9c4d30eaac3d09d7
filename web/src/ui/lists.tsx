import type { Resource } from '@medplum/fhirtypes';
import { type HTMLAttributes, type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { cameBack, type Pages, type SearchPages } from '../api/use-pages.ts';
import { Button, Empty, Link, Loading } from './basics.tsx';

interface RowProps {
  title: ReactNode;
  /** The page that the title leads to. */
  href?: string;
  /** What stands below the title, a line each. */
  more?: readonly ReactNode[];
  /** What stands beside. */
  side?: ReactNode;
  children?: ReactNode;
}

/** What a row of a list says. */
export function Row({ title, href, more = [], side, children }: RowProps) {
  return (
    <>
      <div className="row-main">
        {href === undefined ? (
          <span className="row-title">{title}</span>
        ) : (
          <Link className="link row-title" href={href}>
            {title}
          </Link>
        )}
        {more.map((line, at) =>
          line ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <span className="row-more" key={at}>
              {line}
            </span>
          ) : null,
        )}
        {children}
      </div>
      {side && <div className="row-side">{side}</div>}
    </>
  );
}

interface RowsProps<T> {
  label: string;
  of: readonly T[];
  keyOf(item: T): string;
  /** What is said when there is none, and what more. */
  empty?: string;
  hint?: string;
  isOrdered?: boolean;
  isBusy?: boolean;
  row(item: T, at: number): ReactNode;
  rowProps?(item: T): HTMLAttributes<HTMLLIElement>;
}

/** A list in rows. */
export function Rows<T>(props: RowsProps<T>) {
  const { label, of: items, keyOf, empty, hint, isOrdered = false, isBusy = false, row, rowProps } = props;
  if (items.length === 0 && empty !== undefined) return <Empty title={empty} hint={hint} />;
  const List = isOrdered ? 'ol' : 'ul';
  return (
    <List className="rows" aria-label={label} aria-busy={isBusy}>
      {items.map((item, at) => (
        <li className="row" key={keyOf(item)} {...rowProps?.(item)}>
          {row(item, at)}
        </li>
      ))}
    </List>
  );
}

/** The next page of a list; nothing when there is none. */
export function ShowMore({ onPress, isBusy }: { onPress: (() => void) | undefined; isBusy: boolean }) {
  return onPress === undefined ? null : (
    <Button onPress={onPress} isPending={isBusy}>
      Show more
    </Button>
  );
}

/** Rows that were loaded, and more of them on demand. */
export function PagedRows<T>({ pages, ...rows }: Omit<RowsProps<T>, 'of' | 'isBusy'> & { pages: Pages<T> }) {
  const { isLoading, message, loadMore } = pages;
  return (
    <>
      <Loading of={pages}>
        {(items) =>
          items.length === 0 && message !== undefined ? null : (
            <Rows of={items} isBusy={isLoading} {...rows} />
          )
        }
      </Loading>
      <ShowMore onPress={loadMore} isBusy={isLoading} />
    </>
  );
}

interface PagedListProps<R extends Resource> extends Pick<RowsProps<R>, 'label' | 'row' | 'empty' | 'hint'> {
  pages: SearchPages<R>;
}

/** The same of resources that have pages of their own. Whoever comes back from one finds it again. */
export function PagedList<R extends Resource>({ pages, ...rows }: PagedListProps<R>) {
  const rowProps = useRowPlace(pages);
  return <PagedRows pages={pages} keyOf={({ id = '' }) => id} rowProps={rowProps} {...rows} />;
}

/** A column of a table. */
export interface Column<R> {
  title: string;
  /** What `_sort` calls it, where the table can be sorted by it. */
  by?: string;
  /** Of its cells; `wide-only` holds for its head too. */
  className?: string;
  cell(resource: R): ReactNode;
}

interface PagedTableProps<R extends Resource> {
  pages: SearchPages<R>;
  label: string;
  empty: string;
  countOf(shown: number, total: number | undefined, hasMore: boolean): string;
  /** What each row is about, with the page that it leads to. */
  name: Column<R> & { hrefOf(resource: R): string; summaryOf(resource: R): string };
  columns: readonly Column<R>[];
  sort?: string;
  onSort?(sort: string): void;
  /** A column in front, where rows can be chosen. */
  check?: { head: ReactNode; cell(resource: R): ReactNode };
  /** More rows come as one scrolls. */
  isEager?: boolean;
  children?: ReactNode;
}

/** Resources in columns; on a phone the name stands over a summary of the rest. */
export function PagedTable<R extends Resource>(props: PagedTableProps<R>) {
  const { pages, label, empty, countOf, name, columns, check, isEager = false, children, ...order } = props;
  const { value: shown, total, message, isLoading, loadMore } = pages;
  const rowProps = useRowPlace(pages);
  const more = useWhenSeen(isEager && message === undefined && !isLoading ? loadMore : undefined);
  const count = shown ? countOf(shown.length, total, loadMore !== undefined) : isLoading ? 'Loading' : '';
  return (
    <div className="members">
      <p className="help" role="status">
        {count}
      </p>
      {children}
      <Loading of={pages}>
        {(resources) =>
          resources.length === 0 ? (
            message === undefined && <Empty title={empty} />
          ) : (
            <table className="people" aria-label={label} aria-busy={isLoading}>
              <thead>
                <tr>
                  {check && <td className="cell-check">{check.head}</td>}
                  {[name, ...columns].map((column) => (
                    <Head key={column.title} column={column} {...order} />
                  ))}
                </tr>
              </thead>
              <tbody>
                {resources.map((resource) => (
                  <tr key={resource.id} {...rowProps(resource)}>
                    {check && <td className="cell-check">{check.cell(resource)}</td>}
                    <th scope="row">
                      <Link href={name.hrefOf(resource)}>{name.cell(resource)}</Link>
                      <span className="row-more narrow-only">{name.summaryOf(resource)}</span>
                    </th>
                    {columns.map(({ title, className, cell }) => (
                      <td className={className} key={title}>
                        {cell(resource)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loading>
      {loadMore && (
        <div ref={more}>
          <ShowMore onPress={loadMore} isBusy={isLoading} />
        </div>
      )}
    </div>
  );
}

type HeadProps<R extends Resource> = { column: Column<R> } & Pick<PagedTableProps<R>, 'sort' | 'onSort'>;

/** The head of a column; pressed again, the table is sorted the other way round. */
function Head<R extends Resource>({ column: { title, by, className }, sort, onSort }: HeadProps<R>) {
  const isWide = className?.startsWith('wide-only') ? { className: 'wide-only' } : {};
  if (by === undefined)
    return (
      <th scope="col" {...isWide}>
        {title}
      </th>
    );
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;
  const arrow = order && (order === 'ascending' ? ' ↑' : ' ↓');
  return (
    <th scope="col" {...isWide} {...(order ? { 'aria-sort': order } : {})}>
      <button type="button" className="sort" onClick={() => onSort?.(sort === by ? `-${by}` : by)}>
        {title}
        <span aria-hidden="true">{arrow}</span>
      </button>
    </th>
  );
}

let left: { path: string; id: string | undefined } | undefined;

/**
 * Leads somebody who comes back to a list to the row that they had followed: into view, with the focus.
 * @returns the props of each row
 */
function useRowPlace({ path, value }: SearchPages<Resource>) {
  const isShown = value !== undefined;
  useEffect(() => {
    if (!isShown || !cameBack() || left?.path !== path) return;
    const { id = '' } = left;
    left = undefined;
    // The page's heading takes the focus when the page opens: after that.
    const frame = requestAnimationFrame(() => {
      const row = document.querySelector(`[data-row="${CSS.escape(id)}"]`);
      row?.scrollIntoView({ block: 'center' });
      row?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [path, isShown]);
  return ({ id }: Resource) => ({
    'data-row': id,
    onClickCapture() {
      left = { path, id };
    },
  });
}

/** Is done when an element comes near the window. @param act undefined while there is nothing to do */
function useWhenSeen(act: (() => void) | undefined) {
  const element = useRef<HTMLDivElement>(null);
  const actNow = useEffectEvent(() => act?.());
  const isWaiting = act !== undefined;
  useEffect(() => {
    const watched = element.current;
    if (!watched || !isWaiting) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && actNow(),
      { rootMargin: '200px' },
    );
    observer.observe(watched);
    return () => observer.disconnect();
  }, [isWaiting]);
  return element;
}
