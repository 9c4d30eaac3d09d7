import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from '../ui/button.tsx';

/** In the way of a page whose session another tab has replaced: nothing more can be done on it. */
export function ReplacedNotice({ isOpen }: { isOpen: boolean }) {
  return (
    <ModalOverlay className="overlay" isOpen={isOpen} isKeyboardDismissDisabled>
      <Modal className="modal">
        <Dialog role="alertdialog" className="dialog">
          <Heading slot="title">You signed in again in another tab</Heading>
          <p>
            This browser is signed in to one project at a time. This page belongs to the previous session,
            which has ended.
          </p>
          <div className="buttons buttons-end">
            <Button kind="primary" autoFocus onPress={() => location.assign('/app/')}>
              Continue with the new session
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
