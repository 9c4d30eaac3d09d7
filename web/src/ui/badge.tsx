import type { ReactNode } from 'react';

export type BadgeKind = 'good' | 'waiting' | 'bad' | 'plain';

export function Badge({ kind = 'plain', children }: { kind?: BadgeKind; children: ReactNode }) {
  return <span className={`badge badge-${kind}`}>{children}</span>;
}
