import type { Resource } from '@medplum/fhirtypes';
import { type ReactNode, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useAction, useApi } from '../api/use-api.ts';
import { Button, Failure } from './basics.tsx';

interface ConfirmProps {
  isOpen: boolean;
  title: string;
  /** What will happen, spelled out. */
  children: ReactNode;
  /** What the button says: the deed, not "OK". */
  deed: string;
  isBusy: boolean;
  message: string | undefined;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({
  isOpen,
  title,
  children,
  deed,
  isBusy,
  message,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <ModalOverlay className="overlay" isOpen={isOpen} onOpenChange={(open) => open || onClose()}>
      <Modal className="modal">
        <Dialog role="alertdialog" className="dialog">
          <Heading slot="title">{title}</Heading>
          {children}
          <Failure message={message} />
          <div className="buttons buttons-end">
            <Button onPress={onClose} autoFocus>
              Keep it as it is
            </Button>
            <Button kind="danger" isPending={isBusy} onPress={onConfirm}>
              {deed}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmedButtonProps {
  label: string;
  /** What a screen reader says instead, where there are several. */
  name?: string;
  kind?: 'danger' | 'plain';
  title: string;
  deed: string;
  act(): Promise<unknown>;
  /** What will happen, spelled out. */
  children: ReactNode;
}

/** A button that asks before it does what it says; what is refused stands in the question. */
export function ConfirmedButton({
  label,
  name,
  kind = 'danger',
  title,
  deed,
  act,
  children,
}: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction(async () => {
    await act();
    setAsking(false);
  });
  return (
    <>
      <Button kind={kind} onPress={() => setAsking(true)} {...(name ? { 'aria-label': name } : {})}>
        {label}
      </Button>
      <Confirm
        isOpen={isAsking}
        title={title}
        deed={deed}
        isBusy={action.isBusy}
        message={action.message}
        onConfirm={() => action.run()}
        onClose={() => {
          setAsking(false);
          action.clear();
        }}
      >
        {children}
      </Confirm>
    </>
  );
}

interface DeleteResourceProps {
  resource: Resource;
  name: string;
  /** The page to go to afterwards. */
  then: string;
  /** What will happen, as list items. */
  children: ReactNode;
}

export function DeleteResource({ resource, name, then, children }: DeleteResourceProps) {
  const { fetch } = useApi();
  const [, navigate] = useLocation();
  return (
    <div>
      <ConfirmedButton
        label={`Delete ${name}`}
        title={`Delete ${name}?`}
        deed={`Delete ${name} for good`}
        act={async () => {
          await fetch(`fhir/R4/${resource.resourceType}/${resource.id}`, { method: 'DELETE' });
          navigate(then);
        }}
      >
        <ul>{children}</ul>
      </ConfirmedButton>
    </div>
  );
}
