import { useState } from 'react';
import { postJson } from '../../../client/src/post-json.ts';
import { useAction } from '../api/use-action.ts';
import { baseUrl, type Session } from '../session/session.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { Door } from './door.tsx';
import { linkInAddress, type MailedLink } from './link-in-address.ts';

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
