import { type ReactNode, useEffect, useRef } from 'react';
import {
  Tabs as AriaTabs,
  Dialog,
  DialogTrigger,
  Heading,
  Modal,
  ModalOverlay,
  Tab,
  TabList,
  TabPanel,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import { useAddressState } from '../api/use-pages.ts';
import { topicOf } from '../help/topics.ts';
import { Button, Link } from './basics.tsx';

/** A page with its heading, which takes the focus when the page opens so that a screen reader says it. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
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
    </>
  );
}

/** Says what the page is about; nothing where there is nothing to say. */
function WhatIsThis() {
  const [path] = useLocation();
  const topic = topicOf(path);
  if (!topic) return null;
  return (
    <DialogTrigger>
      <Button kind="quiet">What is this?</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title">{topic.title}</Heading>
                {topic.paragraphs.map((text) => (
                  <p key={text}>{text}</p>
                ))}
                <div className="buttons">
                  {topic.more && (
                    <Link href={topic.more.href} onPress={close}>
                      {topic.more.label}
                    </Link>
                  )}
                  <Button onPress={close}>Close</Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
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

interface Props {
  label: string;
  tabs: readonly (readonly [title: string, content: ReactNode])[];
}

/** Pages of one thing; only the chosen one is there, and it stands in the address. */
export function Tabs({ label, tabs }: Props) {
  const titles = tabs.map(([title]) => title);
  const [chosen, choose] = useAddressState('tab', titles, titles[0] ?? '');
  return (
    <AriaTabs selectedKey={chosen} onSelectionChange={(key) => choose(String(key))}>
      <TabList className="tab-list" aria-label={label}>
        {tabs.map(([title]) => (
          <Tab key={title} id={title} className="tab">
            {title}
          </Tab>
        ))}
      </TabList>
      {tabs.map(([title, content]) => (
        <TabPanel key={title} id={title} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
