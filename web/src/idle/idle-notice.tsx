import { useEffect, useRef, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { hasEnded } from '../session/session.ts';
import { endedNotice, useSession, useSessionState } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import type { IdleWatch } from './idle-watch.ts';

/** What a person does; moving the pointer may be the table's doing. */
const deeds = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;
/** When a page that was out of sight or asleep is back. */
const wakings = ['focus', 'pageshow', 'resume', 'visibilitychange'] as const;

/** Where the Project signs people out after idle time: asks a minute before, and ends the session then. */
export function IdleNotice() {
  const { idle } = useSession();
  const { end, endIdle } = useSessionState();
  const [left, setLeft] = useState<number>();
  const isAsking = useRef(false);
  const stay = () => {
    idle.note();
    isAsking.current = false;
    setLeft(undefined);
    idle.tellWhenDue('at once').catch((error: unknown) => hasEnded(error) && end(endedNotice));
  };
  useEffect(() => {
    let isGone = false;
    const look = async () => {
      if (await isOver(idle)) return isGone ? undefined : endIdle();
      if (isGone) return;
      const { is, leftMs } = idle.state();
      isAsking.current = is === 'ending';
      setLeft(is === 'ending' ? Math.ceil(leftMs / 1000) : undefined);
      await idle.tellWhenDue().catch((error: unknown) => {
        if (hasEnded(error) && !isGone) end(endedNotice);
      });
    };
    const note = (event: Event) => {
      // Whoever is asked answers: a key pressed in passing is no answer.
      if (event.isTrusted && !isAsking.current && idle.state().is === 'used') idle.note();
    };
    const wake = () => void look();
    const timer = setInterval(wake, 1000);
    for (const deed of deeds) addEventListener(deed, note, { capture: true, passive: true });
    for (const waking of wakings) addEventListener(waking, wake, { capture: true });
    return () => {
      isGone = true;
      clearInterval(timer);
      for (const deed of deeds) removeEventListener(deed, note, { capture: true });
      for (const waking of wakings) removeEventListener(waking, wake, { capture: true });
    };
  }, [idle, end, endIdle]);
  return (
    <ModalOverlay className="overlay" isOpen={left !== undefined} onOpenChange={(isOpen) => isOpen || stay()}>
      <Modal className="modal">
        <Dialog role="alertdialog" className="dialog" aria-describedby="idle-left">
          <Heading slot="title">Are you still there?</Heading>
          <p id="idle-left">
            You will be signed out in {left} {left === 1 ? 'second' : 'seconds'}, because nothing was done
            here. Code and policies that you have not saved are kept on this device.
          </p>
          <div className="buttons buttons-end">
            <Button kind="primary" autoFocus onPress={stay}>
              Stay signed in
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Before a session is taken for idle, other tabs are asked; meanwhile nothing of the page is seen. */
async function isOver(idle: IdleWatch): Promise<boolean> {
  const { is } = idle.state();
  if (is === 'used') return false;
  const page = document.documentElement;
  if (is === 'over') page.dataset.covered = '';
  await idle.catchUp();
  const isSo = idle.state().is === 'over';
  if (!isSo) delete page.dataset.covered;
  return isSo;
}
