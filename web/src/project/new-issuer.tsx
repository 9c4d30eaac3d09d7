import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { TextField } from '../ui/text-field.tsx';

/** Adds an identity provider. It is asked before it is kept, so that a mistake shows at once. */
export function NewIssuer({ onAdded }: { onAdded(): void }) {
  const { admin, send } = useApi();
  const [issuer, setIssuer] = useState('');
  const [clientId, setClientId] = useState('');
  const [clientSecret, setClientSecret] = useState('');
  const add = useAction(async () => {
    await send('POST', `${admin}/issuers`, {
      issuer,
      clientId,
      ...(clientSecret ? { clientSecret } : {}),
    });
    setIssuer('');
    setClientId('');
    setClientSecret('');
    onAdded();
  }, ['issuer', 'clientId', 'clientSecret']);
  return (
    <section className="card narrow" aria-labelledby="new-issuer">
      <h2 id="new-issuer">Add an issuer</h2>
      <Form label="Add an issuer" fieldErrors={add.fieldErrors} onSubmit={() => add.run()}>
        <TextField
          label="Issuer"
          name="issuer"
          help="The address of the identity provider (OpenID Connect), as its tokens name it: https://…"
          value={issuer}
          onChange={setIssuer}
          isRequired
          autoComplete="off"
        />
        <TextField
          label="Client id"
          name="clientId"
          help="What Portico is called there."
          value={clientId}
          onChange={setClientId}
          isRequired
          autoComplete="off"
        />
        <PasswordField
          label="Client secret"
          name="clientSecret"
          value={clientSecret}
          onChange={setClientSecret}
          autoComplete="off"
        />
        <Failure message={add.message} />
        <div>
          <Button type="submit" kind="primary" isPending={add.isBusy}>
            Add the issuer
          </Button>
        </div>
      </Form>
    </section>
  );
}
