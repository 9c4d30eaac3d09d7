import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useAddress } from '../api/use-pages.ts';
import { topicOf } from '../help/topics.ts';
import { Button, Link } from './basics.tsx';
import { Dialog } from './dialog.tsx';

interface PageProps {
  title: string;
  actions?: ReactNode;
  back?: { label: string; href: string };
  children: ReactNode;
}

/** A page with its heading, which takes the focus when the page opens so that a screen reader says it. */
export function Page({ title, actions, back, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Portico`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <div className="page-head">
        <div className="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          <WhatIsThis />
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      {children}
      {back && (
        <p>
          <Link href={back.href}>{back.label}</Link>
        </p>
      )}
    </>
  );
}

/** Says what the page is about; nothing where there is nothing to say. */
function WhatIsThis() {
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const topic = topicOf(path);
  if (!topic) return null;
  const { title, paragraphs, more } = topic;
  const close = () => setOpen(false);
  return (
    <>
      <Button kind="quiet" onPress={() => setOpen(true)}>
        What is this?
      </Button>
      <Dialog isOpen={isOpen} title={title} isDismissable onClose={close}>
        {paragraphs.map((text) => (
          <p key={text}>{text}</p>
        ))}
        <div className="buttons">
          {more && (
            <Link href={more.href} onPress={close}>
              {more.label}
            </Link>
          )}
          <Button onPress={close}>Close</Button>
        </div>
      </Dialog>
    </>
  );
}

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

export function Mark() {
  return <img src="/app/mark.svg" alt="Portico" width="32" height="32" className="mark" />;
}

/** Pages of one thing, by their titles; only the chosen one is there, and it stands in the address. */
export function Tabs({ label, tabs }: { label: string; tabs: Record<string, ReactNode> }) {
  const titles = Object.keys(tabs);
  const options = titles.map((value) => ({ value }));
  const { values, change } = useAddress({ tab: titles[0] ?? '' }, { tab: options });
  return (
    <AriaTabs selectedKey={values.tab} onSelectionChange={(key) => change({ tab: String(key) })}>
      <TabList className="tab-list" aria-label={label}>
        {titles.map((title) => (
          <Tab key={title} id={title} className="tab">
            {title}
          </Tab>
        ))}
      </TabList>
      {Object.entries(tabs).map(([title, content]) => (
        <TabPanel key={title} id={title} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
