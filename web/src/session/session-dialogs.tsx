import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useAction } from '../api/use-api.ts';
import type { IdleWatch } from '../idle/idle-watch.ts';
import { TokenField } from '../sign-in/second-factor.tsx';
import { Button, Failure } from '../ui/basics.tsx';
import { PasswordField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { hasEnded, isExternal, type Session } from './session.ts';
import { endedNotice, useSession, useSessionState } from './session-context.tsx';

/** Whenever something needs a recent sign-in: asks for it, and what was begun goes on. */
export function SignInAgainDialog({ session }: { session: Session }) {
  const { again } = session;
  const isAsked = useSyncExternalStore(again.subscribe, again.isAsked);
  return (
    <ModalOverlay className="overlay" isOpen={isAsked} onOpenChange={(isOpen) => isOpen || again.giveUp()}>
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">Is it still you?</Heading>
          {isExternal(session) ? <AtIssuer session={session} /> : <ByProof session={session} />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const why =
  'What you are about to do can open or close an account, and you signed in more than five minutes ago.';

function ByProof({ session: { again, me } }: { session: Session }) {
  const [password, setPassword] = useState('');
  const [token, setToken] = useState('');
  const [byCode, setByCode] = useState(false);
  const show = useAction(() => again.show(byCode ? { token } : { password }), ['password', 'token']);
  return (
    <Form label="Show again who you are" fieldErrors={show.fieldErrors} onSubmit={() => show.run()}>
      <p>{why}</p>
      <Failure message={show.message} />
      {byCode ? (
        <TokenField value={token} onChange={setToken} orRecovery autoFocus />
      ) : (
        <PasswordField
          label="Your password"
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          isRequired
          autoFocus
        />
      )}
      {me.security?.mfaEnrolled && (
        <div>
          <Button kind="quiet" onPress={() => setByCode(!byCode)}>
            {byCode ? 'Give the password instead' : 'Give a code of your authenticator app instead'}
          </Button>
        </div>
      )}
      <div className="buttons buttons-end">
        <Button onPress={again.giveUp}>Leave it</Button>
        <Button type="submit" kind="primary" isPending={show.isBusy}>
          Go on
        </Button>
      </div>
    </Form>
  );
}

function AtIssuer({ session: { again } }: { session: Session }) {
  const show = useAction(again.showAtIssuer);
  return (
    <>
      <p>{why} Sign in once more at your organisation, in a window that opens for it.</p>
      <Failure message={show.message} />
      <div className="buttons buttons-end">
        <Button onPress={again.giveUp}>Leave it</Button>
        <Button kind="primary" isPending={show.isBusy} onPress={() => show.run()} autoFocus>
          Sign in there
        </Button>
      </div>
    </>
  );
}

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
