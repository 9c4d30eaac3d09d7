import type { ReactNode } from 'react';

/** Names and values. */
export function Details({ items }: { items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="details">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
