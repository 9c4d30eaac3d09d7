import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  kind: 'good' | 'bad' | 'plain';
  children: ReactNode;
}

/**
 * Something that a screen reader says when it appears. What answers a press comes into view, wherever the
 * page was scrolled to.
 */
export function Notice({ kind, children }: Props) {
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (kind !== 'plain') own.current?.scrollIntoView({ block: 'nearest' });
  }, [kind]);
  return (
    <div ref={own} className={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
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
