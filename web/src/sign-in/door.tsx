import { type ReactNode, useEffect, useRef } from 'react';
import { Mark } from '../ui/mark.tsx';

/** The frame of the pages before somebody is signed in. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Portico`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <main className="door">
      <div className="card door-card">
        <div className="door-brand">
          <Mark />
          Portico
        </div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </div>
    </main>
  );
}
