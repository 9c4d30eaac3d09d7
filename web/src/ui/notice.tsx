import type { ReactNode } from 'react';

/** Something that a screen reader says when it appears. */
export function Notice({ kind, children }: { kind: 'good' | 'bad' | 'plain'; children: ReactNode }) {
  return (
    <div className={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** An error, when there is one. */
export function Failure({ message }: { message: string | undefined }) {
  return message === undefined ? null : <Notice kind="bad">{message}</Notice>;
}
