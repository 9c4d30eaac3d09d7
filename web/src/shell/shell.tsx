import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { exchangeCode, newPkce, signInStep } from '../../../client/src/index.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { countDrafts, hasKept } from '../drafts/drafts.ts';
import { useReloadWarning } from '../drafts/use-draft.tsx';
import { EmergencyBar, TakeEmergency, useEmergency } from '../emergency/emergency-access.tsx';
import { baseUrl } from '../session/session.ts';
import { signOut, useSession } from '../session/session-state.ts';
import { useSignInSteps } from '../sign-in/next-step.tsx';
import { ActionButton, Button, Failure, Link } from '../ui/basics.tsx';
import { Confirm, Dialog, Mark } from '../ui/page.tsx';

/** The frame around every page: Project, navigation, who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const { me } = useSession();
  useReloadWarning();
  const emergency = useEmergency();
  // What the stage has; nothing until it is known.
  const { value: stage } = useLoad<{ hasMailbox: boolean }>('stage', async (signal) =>
    (await fetch('/app/stage.json', { signal })).json(),
  );
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const groups = groupsFor(me.membership.admin === true, stage?.hasMailbox === true);
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
          {Object.entries(groups).map(([title, pages]) => (
            <div className="shell-group" key={title}>
              <h2 id={`pages-${title}`}>{title}</h2>
              <ul aria-labelledby={`pages-${title}`}>
                {Object.entries(pages).map(([href, label]) => (
                  <li key={href}>
                    <Link
                      href={href}
                      className="shell-link"
                      {...(path.startsWith(href) ? { 'aria-current': 'page' } : {})}
                      onPress={() => setOpen(false)}
                    >
                      <svg className="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
                        <path d={outlines[href]} />
                      </svg>
                      {label}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
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

/** Changes to another Project of the person without a new sign-in. The session of this browser goes there. */
function ProjectSwitcher() {
  const { send } = useApi();
  const steps = useSignInSteps();
  const { step } = steps;
  const ask = useAction(async () => {
    const { codeVerifier, codeChallenge, codeChallengeMethod } = await newPkce();
    const answer = await send('POST', 'auth/switch', { codeChallenge, codeChallengeMethod });
    await steps.proceed(signInStep(baseUrl, answer), (code) => exchangeCode({ baseUrl, code, codeVerifier }));
  });
  const isAlone = step?.kind === 'choose' && step.memberships.length === 0;
  return (
    <>
      <ActionButton label="Change project" kind="quiet" className="shell-out" action={ask} />
      <Failure message={ask.message ?? (step ? undefined : steps.failure)} />
      <Dialog isOpen={step !== undefined} title="Change project" onClose={steps.leave}>
        <Failure message={steps.failure} />
        {isAlone ? <p>You belong to no other project.</p> : steps.next}
        <div className="buttons buttons-end">
          <Button onPress={steps.leave}>Stay here</Button>
        </div>
      </Dialog>
    </>
  );
}

function SignOut() {
  const session = useSession();
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
        act={signOut}
        onClose={() => setAsking(false)}
      >
        <p>You have typed something here that is not saved. Signing out removes it from this device.</p>
      </Confirm>
    </>
  );
}

/** The lines of each page's sign. */
const outlines: Readonly<Record<string, string>> = {
  '/overview': 'M3 11l9-8 9 8M6 9v12h12V9M10 21v-6h4v6',
  '/members':
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9a7 7 0 0 1 14 0M16 3.5a4 4 0 0 1 0 7M18 14a7 7 0 0 1 4 6',
  '/invite': 'M10 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9a7 7 0 0 1 12-5M19 14v6M16 17h6',
  '/policies': 'M12 3l8 3v5c0 5-3.5 8.5-8 10-4.5-1.5-8-5-8-10V6l8-3Z',
  '/bots': 'M5 9h14v10H5V9Zm7-5v5M9 13v2M15 13v2M2 13v3M22 13v3',
  '/clients': 'M8 19a5 5 0 1 0 0-10 5 5 0 0 0 0 10Zm3.5-8.5L21 3M16 7l3 3',
  '/records': 'M6 3h9l4 4v14H6V3Zm3 8h7M9 15h7',
  '/audit': 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3 3',
  '/reference': 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5V4Zm14 0h-4a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h4V4Z',
  '/project': 'M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4',
  '/account': 'M12 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm-8 9a8 8 0 0 1 16 0',
  '/mail': 'M3 6h18v13H3V6Zm0 1 9 7 9-7',
};

/** The pages that a person is offered, in groups. What they may do is decided by the service alone. */
function groupsFor(isAdministrator: boolean, hasMailbox: boolean): Record<string, Record<string, string>> {
  const mailbox = hasMailbox ? { '/mail': 'Mailbox' } : {};
  const own = { '/account': 'Your account', '/reference': 'API reference', ...mailbox };
  if (!isAdministrator) return { Project: { '/records': 'Records', ...own } };
  return {
    Start: { '/overview': 'Overview' },
    People: { '/members': 'Members', '/invite': 'Invite', '/policies': 'Access policies' },
    Automation: { '/bots': 'Bots', '/clients': 'API keys' },
    Data: { '/records': 'Records', '/audit': 'Audit log' },
    Project: { '/project': 'Settings', ...own },
  };
}
