import { useState } from 'react';
import { postJson } from '../../../client/src/post-json.ts';
import { useAction } from '../api/use-action.ts';
import { baseUrl } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Link } from '../ui/link.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { Door } from './door.tsx';

/** Asks for a mail with a link to a new password. What it says is the same for every address. */
export function ForgotPage() {
  const [email, setEmail] = useState('');
  const [isSent, setSent] = useState(false);
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    await postJson(baseUrl, 'auth/resetpassword', { email });
    setSent(true);
  }, ['email']);
  return (
    <Door title="Forgot your password?">
      {isSent ? (
        <Notice kind="good">
          If somebody signs in with this address, an e-mail with a link is on its way to it.
        </Notice>
      ) : (
        <Form label="Forgot your password?" fieldErrors={fieldErrors} onSubmit={run}>
          <p className="muted">We send you a link to choose a new one.</p>
          <Failure message={message} />
          <TextField
            label="E-mail"
            name="email"
            type="email"
            autoComplete="username"
            value={email}
            onChange={setEmail}
            isRequired
          />
          <Button type="submit" kind="primary" isPending={isBusy}>
            Send the link
          </Button>
        </Form>
      )}
      <p>
        <Link href="/sign-in">Back to the sign-in</Link>
      </p>
    </Door>
  );
}
