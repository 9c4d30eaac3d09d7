import type { Resource } from '@medplum/fhirtypes';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  Dialog as AriaDialog,
  Tabs as AriaTabs,
  Heading,
  Modal,
  ModalOverlay,
  Tab,
  TabList,
  TabPanel,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import { useAction, useApi } from '../api/use-api.ts';
import { useAddress } from '../api/use-pages.ts';
import { topicOf } from '../help/topics.ts';
import { ActionButton, Button, Failure, Link } from './basics.tsx';

export type PageLink = { label: string; href: string };

interface PageProps {
  title: string;
  actions?: ReactNode;
  back?: PageLink;
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
        {actions && <div className="buttons">{actions}</div>}
      </div>
      {children}
      {back && <LinkBelow {...back} />}
    </>
  );
}

export function LinkBelow({ label, href }: PageLink) {
  return (
    <p>
      <Link href={href}>{label}</Link>
    </p>
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

export function Mark() {
  return <img src="/app/mark.svg" alt="Portico" width="32" height="32" className="mark" />;
}

/** Pages of one thing, by their titles; only the chosen one is there, and it stands in the address. */
export function Tabs({ label, tabs }: { label: string; tabs: Record<string, ReactNode> }) {
  const titles = Object.keys(tabs);
  const { values, change } = useAddress({ tab: titles[0] ?? '' }, { tab: tabs });
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

interface DialogProps {
  isOpen: boolean;
  title: string;
  /** It must be answered before anything else. */
  isAlert?: boolean;
  isDismissable?: boolean;
  /** Left out, only its buttons close it. */
  onClose?(): void;
  /** The id of what says more than the title. */
  describedBy?: string;
  children: ReactNode;
}

/** A window over the page. */
export function Dialog(props: DialogProps) {
  const { isOpen, title, isAlert = false, isDismissable = false, onClose, describedBy, children } = props;
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => open || onClose?.()}
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!onClose}
    >
      <Modal className="modal">
        <AriaDialog
          className="dialog"
          {...(isAlert ? { role: 'alertdialog' } : {})}
          {...(describedBy ? { 'aria-describedby': describedBy } : {})}
        >
          <Heading slot="title">{title}</Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface QuestionProps {
  /** The deed as a question, where it is left out. */
  title?: string;
  /** What the button says: the deed, not "OK". */
  deed: string;
  /** What is refused stands in the question. */
  act(): unknown;
  children: ReactNode;
}

/** Asks before something that cannot be taken back. What was done closes the question. */
export function Confirm(props: QuestionProps & { isOpen: boolean; onClose(): void }) {
  const { isOpen, deed, title = `${deed}?`, act, onClose, children } = props;
  const action = useAction(async () => {
    await act();
    onClose();
  });
  const close = () => {
    onClose();
    action.clear();
  };
  return (
    <Dialog isOpen={isOpen} title={title} isAlert onClose={close}>
      {children}
      <Failure message={action.message} />
      <div className="buttons buttons-end">
        <Button onPress={close} autoFocus>
          Keep it as it is
        </Button>
        <ActionButton label={deed} kind="danger" action={action} />
      </div>
    </Dialog>
  );
}

interface ConfirmedButtonProps extends QuestionProps {
  label: string;
  /** When the question is gone, whatever was answered. */
  onClose?(): void;
  /** What a screen reader says instead, where there are several. */
  name?: string;
  kind?: 'danger' | 'plain' | 'quiet';
}

/** A button that asks before it does what it says. */
export function ConfirmedButton(props: ConfirmedButtonProps) {
  const { label, name, kind = 'danger', onClose, ...question } = props;
  const [isAsking, setAsking] = useState(false);
  const close = () => {
    setAsking(false);
    onClose?.();
  };
  return (
    <>
      <Button kind={kind} onPress={() => setAsking(true)} {...(name ? { 'aria-label': name } : {})}>
        {label}
      </Button>
      <Confirm isOpen={isAsking} onClose={close} {...question} />
    </>
  );
}

interface DeleteResourceProps {
  resource: Resource;
  name: string;
  then: string;
  children: ReactNode;
}

export function DeleteResource({ resource, name, then, children }: DeleteResourceProps) {
  const { send } = useApi();
  const [, navigate] = useLocation();
  return (
    <ConfirmedButton
      label={`Delete ${name}`}
      title={`Delete ${name}?`}
      deed={`Delete ${name} for good`}
      act={async () => {
        await send('DELETE', `fhir/R4/${resource.resourceType}/${resource.id}`);
        navigate(then);
      }}
    >
      <ul>{children}</ul>
    </ConfirmedButton>
  );
}
