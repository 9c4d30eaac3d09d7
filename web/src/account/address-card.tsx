import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useSession } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';

/** A new address holds once the mail that goes there was answered; until then nothing changes. */
export function AddressCard() {
  const { fetch } = useApi();
  const { me } = useSession();
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string>();
  const change = useAction(async () => {
    setSentTo(undefined);
    await fetch(`fhir/R4/User/${me.user?.id}`, {
      method: 'PATCH',
      body: [{ op: 'replace', path: '/email', value: email }],
      contentType: 'application/json-patch+json',
    });
    setSentTo(email);
  }, ['email']);
  return (
    <section className="card narrow" aria-labelledby="address">
      <h2 id="address">E-mail address</h2>
      <Form label="E-mail address" fieldErrors={change.fieldErrors} onSubmit={() => change.run()}>
        <Failure message={change.message} />
        {sentTo && (
          <Notice kind="good">
            An e-mail to {sentTo} is queued. Follow its link within a day to use that address.
          </Notice>
        )}
        <TextField
          label="New e-mail address"
          name="email"
          type="email"
          autoComplete="email"
          value={email}
          onChange={setEmail}
          isRequired
        />
        <div>
          <Button type="submit" kind="primary" isPending={change.isBusy}>
            Send the link
          </Button>
        </div>
      </Form>
    </section>
  );
}
