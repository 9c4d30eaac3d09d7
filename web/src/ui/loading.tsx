import type { ReactNode } from 'react';
import type { Loaded } from '../api/use-load.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

interface Props<T> {
  of: Loaded<T> & { reload(): void };
  children(value: T): ReactNode;
}

/** What was loaded; grey bars in its place until then; what went wrong, with a way to try again. */
export function Loading<T>({ of: loaded, children }: Props<T>) {
  return (
    <>
      {loaded.state === 'failed' && (
        <Notice kind="bad">
          <p>{loaded.message}</p>
          <Button onPress={loaded.reload}>Try again</Button>
        </Notice>
      )}
      {loaded.value !== undefined
        ? children(loaded.value)
        : loaded.state === 'loading' && (
            <div className="bars" role="status" aria-label="Loading">
              <span />
              <span />
              <span />
            </div>
          )}
    </>
  );
}

/** In place of a list that has nothing in it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
