import { useState } from 'react';
import { useLocation } from 'wouter';
import type { SignInStep } from '../../../client/src/index.ts';
import { messageOf } from '../api/message-of.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Failure } from '../ui/notice.tsx';
import { AcceptForm } from './accept-form.tsx';
import { Door } from './door.tsx';
import { useInvitation } from './invitation-of-link.ts';
import { linkInAddress, type MailedLink } from './link-in-address.ts';
import { NextStep, stepTitles } from './next-step.tsx';
import { type SignInTarget, signInTarget } from './sign-in-target.ts';

/** Where an invitation's link leads. Opening it accepts nothing; the button does, and signs the person in. */
export function AcceptPage() {
  const [link] = useState(linkInAddress);
  if (link) return <Accept link={link} />;
  return (
    <Door title="This link is incomplete">
      <p>Open the link in the invitation e-mail again, or copy all of it into the address bar.</p>
    </Door>
  );
}

function Accept({ link }: { link: MailedLink }) {
  const [, navigate] = useLocation();
  const { begin } = useSessionState();
  const loaded = useInvitation(link);
  const [next, setNext] = useState<{ step: SignInStep; target: SignInTarget }>();
  const [failure, setFailure] = useState<string>();

  const proceed = async (step: SignInStep, target: SignInTarget) => {
    if (step.kind !== 'code') return setNext({ step, target });
    try {
      const tokens = await target.finish(step.code);
      if (!tokens) return;
      await begin(tokens);
      navigate('/', { replace: true });
    } catch (error) {
      setFailure(messageOf(error));
    }
  };

  if (loaded.value === 'dead') return <DeadLink />;
  return (
    <Door title={next ? stepTitles[next.step.kind] : 'Accept your invitation'}>
      <Failure message={failure} />
      {next ? (
        <NextStep step={next.step} onStep={(step) => proceed(step, next.target)} />
      ) : (
        <Loading of={loaded}>
          {(invitation) =>
            invitation === 'dead' ? null : (
              <AcceptForm
                link={link}
                invitation={invitation}
                onAccepted={async (signIn) => {
                  const target = await signInTarget(new URLSearchParams());
                  await proceed(await signIn(target.request), target);
                }}
              />
            )
          }
        </Loading>
      )}
    </Door>
  );
}

function DeadLink() {
  return (
    <Door title="This link no longer works">
      <p>
        The invitation was accepted already, has expired, was withdrawn, or a newer e-mail has taken its
        place. Use the link in the newest one, or ask whoever invited you for a new invitation.
      </p>
      <p>
        If you have accepted it already, <Link href="/sign-in">sign in</Link>.
      </p>
    </Door>
  );
}
