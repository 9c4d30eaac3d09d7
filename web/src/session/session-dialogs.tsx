import { useEffect, useRef, useState } from 'react';
import { useAction } from '../api/use-api.ts';
import type { IdleWatch } from '../idle/idle-watch.ts';
import { TokenField } from '../sign-in/next-step.tsx';
import { ActionButton, Button, Failure } from '../ui/basics.tsx';
import { PasswordField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { Dialog } from '../ui/page.tsx';
import { useObserved } from './observable.ts';
import { hasEnded, isExternal, type Session } from './session.ts';
import { endedNotice, endIdleSession, endSession, useSession } from './session-state.ts';

/** Whenever something needs a recent sign-in: asks for it, and what was begun goes on. */
export function SignInAgainDialog({ session }: { session: Session }) {
  const { again } = session;
  const waiting = useObserved(again.waiting);
  return (
    <Dialog isOpen={waiting.length > 0} title="Is it still you?" onClose={again.giveUp}>
      {isExternal(session) ? <AtIssuer session={session} /> : <ByProof session={session} />}
    </Dialog>
  );
}

const why =
  'What you are about to do can open or close an account, and you signed in more than five minutes ago.';

function ByProof({ session: { again, me } }: { session: Session }) {
  const [byCode, setByCode] = useState(false);
  const show = useForm({ password: '', token: '' }, ({ password, token }) =>
    again.show(byCode ? { token } : { password }),
  );
  const buttons = (
    <div className="buttons buttons-end">
      <Button onPress={again.giveUp}>Leave it</Button>
      <Button type="submit" kind="primary" isPending={show.isBusy}>
        Go on
      </Button>
    </div>
  );
  return (
    <Form label="Show again who you are" action={show} buttons={buttons}>
      <p>{why}</p>
      {byCode ? (
        <TokenField {...show.field('token')} orRecovery autoFocus />
      ) : (
        <PasswordField label="Your password" {...show.field('password')} isRequired autoFocus />
      )}
      {me.security?.mfaEnrolled && (
        <Button kind="quiet" onPress={() => setByCode(!byCode)}>
          {byCode ? 'Give the password instead' : 'Give a code of your authenticator app instead'}
        </Button>
      )}
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
        <ActionButton label="Sign in there" kind="primary" action={show} autoFocus />
      </div>
    </>
  );
}

/** In the way of a page whose session another tab has replaced: nothing more can be done on it. */
export function ReplacedNotice({ isOpen }: { isOpen: boolean }) {
  return (
    <Dialog isOpen={isOpen} title="You signed in again in another tab" isAlert>
      <p>
        This browser is signed in to one project at a time. This page belongs to the previous session, which
        has ended.
      </p>
      <div className="buttons buttons-end">
        <Button kind="primary" autoFocus onPress={() => location.assign('/app/')}>
          Continue with the new session
        </Button>
      </div>
    </Dialog>
  );
}

/** What a person does; moving the pointer may be the table's doing. */
const deeds = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;
/** When a page that was out of sight or asleep is back. */
const wakings = ['focus', 'pageshow', 'resume', 'visibilitychange'] as const;

/** Where the Project signs people out after idle time: asks a minute before, and ends the session then. */
export function IdleNotice() {
  const { idle } = useSession();
  const [left, setLeft] = useState<number>();
  const isAsking = useRef(false);
  const stay = () => {
    idle.note();
    isAsking.current = false;
    setLeft(undefined);
    idle.tellWhenDue('at once').catch((error: unknown) => hasEnded(error) && endSession(endedNotice));
  };
  useEffect(() => {
    const gone = new AbortController();
    const look = async () => {
      const isIdle = await isOver(idle);
      if (gone.signal.aborted) return;
      if (isIdle) return endIdleSession();
      const { is, leftMs } = idle.state();
      isAsking.current = is === 'ending';
      setLeft(is === 'ending' ? Math.ceil(leftMs / 1000) : undefined);
      await idle.tellWhenDue().catch((error: unknown) => {
        if (hasEnded(error) && !gone.signal.aborted) endSession(endedNotice);
      });
    };
    const note = (event: Event) => {
      // Whoever is asked answers: a key pressed in passing is no answer.
      if (event.isTrusted && !isAsking.current && idle.state().is === 'used') idle.note();
    };
    const wake = () => void look();
    const timer = setInterval(wake, 1000);
    const heard = { capture: true, passive: true, signal: gone.signal };
    for (const deed of deeds) addEventListener(deed, note, heard);
    for (const waking of wakings) addEventListener(waking, wake, heard);
    return () => {
      clearInterval(timer);
      gone.abort();
    };
  }, [idle]);
  return (
    <Dialog
      isOpen={left !== undefined}
      title="Are you still there?"
      isAlert
      describedBy="idle-left"
      onClose={stay}
    >
      <p id="idle-left">
        You will be signed out in {left} {left === 1 ? 'second' : 'seconds'}, because nothing was done here.
        Code and policies that you have not saved are kept on this device.
      </p>
      <div className="buttons buttons-end">
        <Button kind="primary" autoFocus onPress={stay}>
          Stay signed in
        </Button>
      </div>
    </Dialog>
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
