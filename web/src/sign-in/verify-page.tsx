import { useState } from 'react';
import { postJson } from '../../../client/src/post-json.ts';
import { useAction } from '../api/use-action.ts';
import { baseUrl } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { Door } from './door.tsx';
import { linkInAddress } from './link-in-address.ts';

/** Where the link to a new address leads. Opening it does nothing; the button uses it. */
export function VerifyPage() {
  const [link] = useState(linkInAddress);
  const [isDone, setDone] = useState(false);
  const { run, isBusy, message } = useAction(async () => {
    if (!link) return;
    await postJson(baseUrl, 'auth/verifyemail', { ...link });
    setDone(true);
  }, []);
  if (!link) {
    return (
      <Door title="This link is not complete">
        <p>Open the link in the mail again, or copy all of it into the address bar.</p>
      </Door>
    );
  }
  if (isDone) {
    return (
      <Door title="Your address is confirmed">
        <p>Sign in with it from now on. Where you are signed in, you stay so.</p>
      </Door>
    );
  }
  return (
    <Door title="Confirm your address">
      <Form label="Confirm your address" fieldErrors={{}} onSubmit={run}>
        <Failure message={message} />
        <p>From then on you sign in with this address, and with the one before no more.</p>
        <Button type="submit" kind="primary" isPending={isBusy}>
          Confirm the address
        </Button>
      </Form>
    </Door>
  );
}
