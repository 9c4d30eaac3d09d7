import { useState } from 'react';
import { type SignInRequest, type SignInStep, signIn } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { profileType } from '../members/profile-type.ts';
import { Button } from '../ui/button.tsx';
import { Details } from '../ui/details.tsx';
import { Form } from '../ui/form.tsx';
import { Moment } from '../ui/moment.tsx';
import { Failure } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { acceptAtIssuer } from './external-flow.ts';
import type { InvitationOfLink } from './invitation-of-link.ts';
import type { MailedLink } from './link-in-address.ts';
import { setPassword } from './set-password.ts';

interface Props {
  link: MailedLink;
  invitation: InvitationOfLink;
  /** @param begin signs the person in with what they have typed */
  onAccepted(
    begin: (request: Omit<SignInRequest, 'email' | 'password'>) => Promise<SignInStep>,
  ): Promise<void>;
}

/** Who invites whom to what, and the one way in that applies. */
export function AcceptForm({ link, invitation, onAccepted }: Props) {
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
