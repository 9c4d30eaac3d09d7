import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  kind: 'good' | 'bad' | 'plain';
  /** It answers a form that is gone: the focus goes here, and not to the top of the page. */
  takesFocus?: boolean;
  children: ReactNode;
}

/**
 * Something that a screen reader says when it appears. What answers a press comes into view, wherever the
 * page was scrolled to.
 */
export function Notice({ kind, takesFocus = false, children }: Props) {
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (kind !== 'plain') own.current?.scrollIntoView({ block: 'nearest' });
    if (takesFocus) own.current?.focus({ preventScroll: true });
  }, [kind, takesFocus]);
  return (
    <div
      ref={own}
      className={`notice notice-${kind}`}
      role={kind === 'bad' ? 'alert' : 'status'}
      {...(takesFocus ? { tabIndex: -1 } : {})}
    >
      {children}
    </div>
  );
}

/** An error, when there is one. */
export function Failure({ message }: { message: string | undefined }) {
  return message === undefined ? null : (
    <Notice kind="bad" key={message}>
      {message}
    </Notice>
  );
}
