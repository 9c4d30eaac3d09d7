import type { Resource } from '@medplum/fhirtypes';
import type { ReactNode } from 'react';
import type { Pages } from '../api/use-pages.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { useRowPlace } from './row-place.ts';

interface Props<R extends Resource> {
  pages: Pages<R>;
  label: string;
  row(resource: R): ReactNode;
  empty: ReactNode;
}

/** Rows, and more of them on demand. Whoever comes back from one finds it again. */
export function PagedList<R extends Resource>({ pages, label, row, empty }: Props<R>) {
  const { path, resources, isLoading, message, loadMore, reload } = pages;
  const { list, follow } = useRowPlace(path, resources !== undefined);
  return (
    <>
      {message !== undefined && (
        <Notice kind="bad">
          <p>{message}</p>
          <Button onPress={reload}>Try again</Button>
        </Notice>
      )}
      {resources === undefined && isLoading && (
        <div className="bars" role="status" aria-label="Loading">
          <span />
          <span />
          <span />
        </div>
      )}
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
      {resources !== undefined && loadMore && (
        <div>
          <Button onPress={loadMore} isPending={isLoading}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
