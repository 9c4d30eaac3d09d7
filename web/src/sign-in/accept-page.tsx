import { useCallback, useState } from 'react';
import { useLocation } from 'wouter';
import {
  OperationOutcomeError,
  type SignInRequest,
  type SignInStep,
  signIn,
} from '../../../client/src/index.ts';
import { postJson } from '../../../client/src/sign-in.ts';
import { messageOf, useAction, useLoad } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { baseUrl } from '../session/session.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Button, Details, Failure, Link, Loading, Moment } from '../ui/basics.tsx';
import { PasswordField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Door } from '../ui/page.tsx';
import { linkInAddress, type MailedLink, setPassword } from './mailed-link.ts';
import { NextStep, stepTitles } from './next-step.tsx';
import { acceptAtIssuer, type SignInTarget, signInTarget } from './sign-in-target.ts';

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

interface Props {
  link: MailedLink;
  invitation: InvitationOfLink;
  /** @param begin signs the person in with what they have typed */
  onAccepted(
    begin: (request: Omit<SignInRequest, 'email' | 'password'>) => Promise<SignInStep>,
  ): Promise<void>;
}

/** Who invites whom to what, and the one way in that applies. */
function AcceptForm({ link, invitation, onAccepted }: Props) {
  const { project, name, email, inviter, expires, method } = invitation;
  return (
    <>
      <Details
        items={[
          ['Project', project.display ?? 'unnamed'],
          ...(inviter ? [['Invited by', inviter] as const] : []),
          ...(name ? [['Invited', `${name}, ${profileType(invitation.profileType)}`] as const] : []),
          ...(email ? [['E-mail', email] as const] : []),
          ['Valid until', <Moment key="expires" at={expires} />],
        ]}
      />
      {typeof method === 'object' ? (
        <WithIssuer link={link} issuer={method.issuer} />
      ) : (
        <WithPassword link={link} invitation={invitation} onAccepted={onAccepted} />
      )}
    </>
  );
}

function WithPassword({ link, invitation: { email = '', project, method }, onAccepted }: Props) {
  const [password, setTyped] = useState('');
  const [isAccepted, setAccepted] = useState(false);
  const isNew = method === 'new-password';
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    // A sign-in that failed is tried again without the link, which is used up.
    if (!isAccepted) await setPassword({ ...link, password });
    setAccepted(true);
    const projectId = project.reference.replace(/^Project\//, '');
    await onAccepted((request) => signIn({ ...request, projectId, email, password }));
  }, ['password']);
  return (
    <Form label="Accept your invitation" fieldErrors={fieldErrors} onSubmit={run}>
      <p className="muted">
        {isNew
          ? 'Choose a password for your account.'
          : 'You have an account here already. Accept with its password.'}
      </p>
      <Failure message={message} />
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete={isNew ? 'new-password' : 'current-password'}
        {...(isNew ? { minLength: 8, help: 'At least 8 characters. A few words make a good one.' } : {})}
        value={password}
        onChange={setTyped}
        isRequired
      />
      <Button type="submit" kind="primary" isPending={isBusy}>
        Accept and join
      </Button>
    </Form>
  );
}

function WithIssuer({ link, issuer }: { link: MailedLink; issuer: string }) {
  const accept = useAction(() => acceptAtIssuer(link));
  return (
    <>
      <p className="muted">You sign in with your organisation, at {URL.parse(issuer)?.host ?? issuer}.</p>
      <Failure message={accept.message} />
      <Button kind="primary" isPending={accept.isBusy} onPress={() => accept.run()}>
        Accept with your organisation’s sign-in
      </Button>
    </>
  );
}

/** `POST auth/invitation`. */
interface InvitationOfLink {
  project: { reference: string; display?: string };
  name?: string;
  email?: string;
  inviter?: string;
  profileType: string;
  expires: string;
  method: 'new-password' | 'own-password' | { issuer: string };
}

/** What a link invites to; `dead` when it leads nowhere any more. */
function useInvitation(link: MailedLink) {
  const load = useCallback(async () => {
    try {
      return (await postJson(baseUrl, 'auth/invitation', link)) as InvitationOfLink;
    } catch (error) {
      if (error instanceof OperationOutcomeError && error.status === 400) return 'dead';
      throw error;
    }
  }, [link]);
  return useLoad<InvitationOfLink | 'dead'>(load);
}
