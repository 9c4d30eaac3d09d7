import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAction } from '../api/use-action.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { Door } from './door.tsx';
import { linkInAddress } from './link-in-address.ts';
import { setPassword } from './set-password.ts';

/** Where the link for a new password leads. Opening it does nothing; the button uses it. */
export function ResetPage() {
  const [link] = useState(linkInAddress);
  const [password, setTyped] = useState('');
  const [, navigate] = useLocation();
  const { end } = useSessionState();
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    if (!link) return;
    await setPassword({ ...link, password });
    end('Your new password is set, and you are signed out everywhere. Sign in with it.');
    navigate('/sign-in', { replace: true });
  }, ['password']);
  if (!link) {
    return (
      <Door title="This link is incomplete">
        <p>Open the link in the e-mail again, or copy all of it into the address bar.</p>
      </Door>
    );
  }
  return (
    <Door title="Choose a new password">
      <Form label="Choose a new password" fieldErrors={fieldErrors} onSubmit={run}>
        <Failure message={message} />
        <PasswordField
          label="New password"
          name="password"
          help="At least 8 characters. A few words make a good one."
          autoComplete="new-password"
          minLength={8}
          value={password}
          onChange={setTyped}
          isRequired
        />
        <Button type="submit" kind="primary" isPending={isBusy}>
          Set the password
        </Button>
      </Form>
    </Door>
  );
}
