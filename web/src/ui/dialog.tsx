import type { Resource } from '@medplum/fhirtypes';
import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useAction, useApi } from '../api/use-api.ts';
import { Button, Failure } from './basics.tsx';

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
  title: string;
  /** What the button says: the deed, not "OK". */
  deed: string;
  /** What is refused stands in the question. */
  act(): unknown;
  children: ReactNode;
}

/** Asks before something that cannot be taken back. What was done closes the question. */
export function Confirm({
  isOpen,
  title,
  deed,
  act,
  onClose,
  children,
}: QuestionProps & { isOpen: boolean; onClose(): void }) {
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
        <Button kind="danger" isPending={action.isBusy} onPress={() => action.run()}>
          {deed}
        </Button>
      </div>
    </Dialog>
  );
}

interface ConfirmedButtonProps extends QuestionProps {
  label: string;
  /** What a screen reader says instead, where there are several. */
  name?: string;
  kind?: 'danger' | 'plain' | 'quiet';
}

/** A button that asks before it does what it says. */
export function ConfirmedButton({ label, name, kind = 'danger', ...question }: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button kind={kind} onPress={() => setAsking(true)} {...(name ? { 'aria-label': name } : {})}>
        {label}
      </Button>
      <Confirm isOpen={isAsking} onClose={() => setAsking(false)} {...question} />
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
    <div>
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
    </div>
  );
}
