import { type ReactNode, useEffect, useRef } from 'react';
import { LinkBelow, Mark, type PageLink } from '../ui/page.tsx';

interface DoorProps {
  title: string;
  /** Where else one may go. */
  link?: PageLink;
  children: ReactNode;
}

/** The frame of the pages before somebody is signed in. */
export function Door({ title, link, children }: DoorProps) {
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
        {link && <LinkBelow {...link} />}
      </div>
    </main>
  );
}
