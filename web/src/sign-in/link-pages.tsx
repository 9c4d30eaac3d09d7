import { useState } from 'react';
import { useLocation } from 'wouter';
import { postJson } from '../../../client/src/sign-in.ts';
import { useAction } from '../api/use-api.ts';
import { baseUrl, type Session } from '../session/session.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Button, Failure, Link, Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Door } from '../ui/page.tsx';
import { linkInAddress, type MailedLink, setPassword } from './mailed-link.ts';
import { TokenField } from './second-factor.tsx';

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

/** Where the link leads that takes an address back. Opening it does nothing; the button uses it. */
export function UndoPage() {
  const [link] = useState(linkInAddress);
  const [isDone, setDone] = useState(false);
  const [token, setToken] = useState<string>();
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    try {
      await postJson(baseUrl, 'auth/undoaddress', { ...link, token });
      setDone(true);
    } finally {
      // Whether one is asked for only the service knows: it says so at the first try.
      setToken((before) => before ?? '');
    }
  }, ['token']);
  if (!link) {
    return (
      <Door title="This link is incomplete">
        <p>Open the link in the e-mail again, or copy all of it into the address bar.</p>
      </Door>
    );
  }
  if (isDone) {
    return (
      <Door title="Your address is yours again">
        <p>You are signed out everywhere, and your password is good no more.</p>
        <p>
          <Link href="/forgot">Choose a new password</Link>
        </p>
      </Door>
    );
  }
  const isAsked = token !== undefined && (token !== '' || 'token' in fieldErrors);
  return (
    <Door title="Take your address back">
      <Form label="Take your address back" fieldErrors={fieldErrors} onSubmit={run}>
        <Failure message={message} />
        <p>
          Your sign-in will be with this address again. Whoever has changed it is signed out everywhere, and
          you choose a new password.
        </p>
        <p>If it was you who changed the address, close the page: nothing happens.</p>
        {isAsked && <TokenField value={token} onChange={setToken} orRecovery />}
        <Button type="submit" kind="primary" isPending={isBusy}>
          Take the address back
        </Button>
      </Form>
    </Door>
  );
}

const path = 'auth/verifyemail';

/**
 * Where the link to a new address leads. Opening it does nothing; the button uses it, for the person who asked:
 * signed in here, or by their password.
 */
export function VerifyPage() {
  const [link] = useState(linkInAddress);
  const [isDone, setDone] = useState(false);
  const [password, setPassword] = useState('');
  const { session } = useSessionState();
  const asker = session && link && isOf(link, session) ? session : undefined;
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    if (!link) return;
    if (asker)
      await asker.portico.fetch(path, { method: 'POST', body: link, contentType: 'application/json' });
    else await postJson(baseUrl, path, { ...link, password });
    setDone(true);
  }, ['password']);
  if (!link) {
    return (
      <Door title="This link is incomplete">
        <p>Open the link in the e-mail again, or copy all of it into the address bar.</p>
      </Door>
    );
  }
  if (isDone) {
    return (
      <Door title="Your address is confirmed">
        <p>Sign in with it from now on. You stay signed in where you are.</p>
      </Door>
    );
  }
  return (
    <Door title="Confirm your address">
      <Form label="Confirm your address" fieldErrors={fieldErrors} onSubmit={run}>
        <Failure message={message} />
        <p>From then on you sign in with this address, and no longer with the old one.</p>
        {!asker && (
          <>
            <p>If you did not ask for this, close the page: nothing changes.</p>
            <PasswordField
              label="Your password"
              name="password"
              help="The password of the account whose address you are changing."
              autoComplete="current-password"
              value={password}
              onChange={setPassword}
              isRequired
            />
          </>
        )}
        <Button type="submit" kind="primary" isPending={isBusy}>
          Confirm the address
        </Button>
      </Form>
    </Door>
  );
}

/** The id of such a link begins with the User who asked. */
function isOf({ id }: MailedLink, { me }: Session): boolean {
  return me.user !== undefined && id.startsWith(`${me.user.id}.`);
}

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

/** Where somebody arrives whose app has signed them out, and named no page of its own. */
export function SignedOutPage() {
  return (
    <Door title="You are signed out">
      <p>You can close this page.</p>
      <p>
        <Link href="/sign-in">Sign in again</Link>
      </p>
    </Door>
  );
}
