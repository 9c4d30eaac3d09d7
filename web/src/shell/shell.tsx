import { type ReactNode, useEffect, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useLocation } from 'wouter';
import { exchangeCode, newPkce, type SignInStep, signInStep } from '../../../client/src/index.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { countDrafts, hasKept } from '../drafts/drafts.ts';
import { useReloadWarning } from '../drafts/use-draft.tsx';
import { EmergencyBar, TakeEmergency, useEmergency } from '../emergency/emergency-access.tsx';
import { baseUrl } from '../session/session.ts';
import { useSession, useSessionState } from '../session/session-context.tsx';
import { NextStep } from '../sign-in/next-step.tsx';
import { Button, Failure, Link } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Mark } from '../ui/page.tsx';
import { groupsFor, Icon } from './navigation.tsx';

/** The frame around every page: Project, navigation, who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const { me } = useSession();
  useReloadWarning();
  const emergency = useEmergency();
  const { hasMailbox } = useStage();
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <div className="shell-side">
        <header className="shell-top">
          <Mark />
          <div className="shell-project">
            <span className="shell-name">{me.project.name ?? 'Portico'}</span>
            <span className="shell-who">{me.membership.profile?.display ?? me.user?.email}</span>
          </div>
          <Button
            kind="quiet"
            className="shell-menu"
            aria-expanded={isOpen}
            aria-controls="navigation"
            onPress={() => setOpen(!isOpen)}
          >
            Menu
          </Button>
        </header>
        <nav id="navigation" className="shell-nav" aria-label="Pages" data-open={isOpen || undefined}>
          {groupsFor({ isAdministrator: me.membership.admin === true, hasMailbox }).map(
            ({ title, pages }) => (
              <div className="shell-group" key={title}>
                <h2 id={`pages-${title}`}>{title}</h2>
                <ul aria-labelledby={`pages-${title}`}>
                  {pages.map(({ href, label, icon }) => (
                    <li key={href}>
                      <Link
                        href={href}
                        className="shell-link"
                        {...(path.startsWith(href) ? { 'aria-current': 'page' } : {})}
                        onPress={() => setOpen(false)}
                      >
                        <Icon name={icon} />
                        {label}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ),
          )}
          <ProjectSwitcher />
          <TakeEmergency emergency={emergency} />
          <SignOut />
        </nav>
      </div>
      <main id="page" className="shell-page" tabIndex={-1}>
        <EmergencyBar emergency={emergency} />
        {children}
      </main>
    </div>
  );
}

interface Switching {
  step: SignInStep;
  codeVerifier: string;
}

/** Changes to another Project of the person without a new sign-in. The session of this browser goes there. */
function ProjectSwitcher() {
  const { send } = useApi();
  const { begin } = useSessionState();
  const [, navigate] = useLocation();
  const [switching, setSwitching] = useState<Switching>();
  const ask = useAction(async () => {
    const { codeVerifier, codeChallenge, codeChallengeMethod } = await newPkce();
    const answer = await send('POST', 'auth/switch', { codeChallenge, codeChallengeMethod });
    setSwitching({ step: signInStep(baseUrl, answer), codeVerifier });
  });
  const proceed = async (step: SignInStep) => {
    if (!switching) return;
    const { codeVerifier } = switching;
    if (step.kind !== 'code') return setSwitching({ step, codeVerifier });
    const tokens = await exchangeCode({ baseUrl, code: step.code, codeVerifier });
    await begin(tokens);
    navigate('/', { replace: true });
  };
  const step = switching?.step;
  const isAlone = step?.kind === 'choose' && step.memberships.length === 0;
  return (
    <>
      <Button kind="quiet" className="shell-out" isPending={ask.isBusy} onPress={() => ask.run()}>
        Change project
      </Button>
      <Failure message={ask.message} />
      <ModalOverlay
        className="overlay"
        isOpen={switching !== undefined}
        onOpenChange={(isOpen) => isOpen || setSwitching(undefined)}
      >
        <Modal className="modal">
          <Dialog className="dialog">
            <Heading slot="title">Change project</Heading>
            {isAlone && <p>You belong to no other project.</p>}
            {step && !isAlone && <NextStep step={step} onStep={proceed} />}
            <div className="buttons buttons-end">
              <Button onPress={() => setSwitching(undefined)}>Stay here</Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}

/** Ends the session; asks first when something that was typed would be lost with it. */
function SignOut() {
  const session = useSession();
  const { signOut } = useSessionState();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        kind="quiet"
        className="shell-out"
        onPress={() => (countDrafts(session) > 0 || hasKept() ? setAsking(true) : signOut())}
      >
        Sign out
      </Button>
      <Confirm
        isOpen={isAsking}
        title="Sign out and discard your changes?"
        deed="Sign out and discard them"
        isBusy={false}
        message={undefined}
        onConfirm={signOut}
        onClose={() => setAsking(false)}
      >
        <p>You have typed something here that is not saved. Signing out removes it from this device.</p>
      </Confirm>
    </>
  );
}

interface Stage {
  hasMailbox: boolean;
}

let asked: Promise<Stage> | undefined;

/** What the stage has, asked for once; nothing until it is known. */
function useStage(): Stage {
  const [stage, setStage] = useState<Stage>({ hasMailbox: false });
  useEffect(() => {
    asked ??= fetch('/app/stage.json').then((answer) => answer.json() as Promise<Stage>);
    asked.then(setStage, () => {
      asked = undefined;
    });
  }, []);
  return stage;
}
