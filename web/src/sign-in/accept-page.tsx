import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAction } from '../api/use-action.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { Door } from './door.tsx';
import { acceptAtIssuer } from './external-flow.ts';
import { linkInAddress } from './link-in-address.ts';
import { setPassword } from './set-password.ts';

/** Where an invitation's link leads. Opening it does nothing; the button accepts. */
export function AcceptPage() {
  const [link] = useState(linkInAddress);
  const [password, setTyped] = useState('');
  const [, navigate] = useLocation();
  const { end } = useSessionState();
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    if (!link) return;
    await setPassword({ ...link, password });
    end('You have joined. Sign in with your e-mail address and this password.');
    navigate('/sign-in', { replace: true });
  }, ['password']);
  const external = useAction(async () => {
    if (link) await acceptAtIssuer(link);
  });
  if (!link) {
    return (
      <Door title="This link is not complete">
        <p>Open the link in the invitation mail again, or copy all of it into the address bar.</p>
      </Door>
    );
  }
  return (
    <Door title="Accept your invitation">
      <Notice kind="plain">
        Choose a password for your account. If you have signed in here before, with any project, type the
        password that you have.
      </Notice>
      <Form label="Accept your invitation" fieldErrors={fieldErrors} onSubmit={run}>
        <Failure message={message} />
        <PasswordField
          label="Password"
          name="password"
          help="At least 8 characters. A few words make a good one."
          autoComplete="new-password"
          minLength={8}
          value={password}
          onChange={setTyped}
          isRequired
        />
        <Button type="submit" kind="primary" isPending={isBusy}>
          Accept and join
        </Button>
      </Form>
      <Failure message={external.message} />
      <Button isPending={external.isBusy} onPress={() => external.run()}>
        Accept with your organisation’s sign-in
      </Button>
    </Door>
  );
}
