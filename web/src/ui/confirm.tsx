import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { Failure } from './notice.tsx';

interface Props {
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
export function Confirm({ isOpen, title, children, deed, isBusy, message, onConfirm, onClose }: Props) {
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
