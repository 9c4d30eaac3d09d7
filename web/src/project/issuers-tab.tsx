import { useState } from 'react';
import { useAction, useApi, useGet } from '../api/use-api.ts';
import { ActionButton, Failure, Loading, Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
import { Row, Rows } from '../ui/lists.tsx';
import { ConfirmedButton } from '../ui/page.tsx';

/** The identity providers that this Project trusts. */
export function IssuersTab() {
  const { admin } = useApi();
  return (
    <Loading of={useGet<{ issuers: Issuer[] }>(`${admin}/issuers`)}>
      {({ issuers }) => (
        <>
          <Rows
            label="Issuers"
            of={issuers}
            keyOf={({ id }) => id}
            empty="No issuers"
            hint="People sign in with a password. Add the identity provider of your organization below."
            row={(issuer) => <IssuerRow issuer={issuer} />}
          />
          <NewIssuer />
        </>
      )}
    </Loading>
  );
}

interface Issuer {
  id: string;
  issuer: string;
  clientId: string;
  hasSecret: boolean;
  redirectUri: string;
}

function IssuerRow({ issuer }: { issuer: Issuer }) {
  const { admin, send, change } = useApi();
  const [works, setWorks] = useState(false);
  const path = `${admin}/issuers/${issuer.id}`;
  const test = useAction(async () => {
    setWorks(false);
    const result = await send<{ works: boolean; problem?: string }>('POST', `${path}/test`);
    if (!result.works) throw new Error(`It cannot be used. ${result.problem}.`);
    setWorks(true);
  });
  const buttons = (
    <>
      <ActionButton label="Test" aria-label={`Test ${issuer.issuer}`} action={test} />
      <ConfirmedButton
        label="Remove"
        name={`Remove ${issuer.issuer}`}
        title={`Remove ${issuer.issuer}?`}
        deed="Remove it"
        act={() => change('DELETE', path)}
      >
        <ul>
          <li>Nobody signs in to this project with it any more. Sessions end within the hour.</li>
          <li>People who can sign in with nothing else are locked out until it is added again.</li>
        </ul>
      </ConfirmedButton>
    </>
  );
  return (
    <Row
      title={issuer.issuer}
      more={[
        `Client ${issuer.clientId}, ${issuer.hasSecret ? 'with a secret' : 'without a secret'}`,
        <>
          Redirect URI to register there: <code>{issuer.redirectUri}</code>
        </>,
      ]}
      side={buttons}
    >
      <Failure message={test.message} />
      {works && (
        <Notice kind="good">
          It answers, and its keys can be used. Whether the client is registered there shows when somebody
          signs in.
        </Notice>
      )}
    </Row>
  );
}

/** Adds an identity provider. It is asked before it is kept, so that a mistake shows at once. */
function NewIssuer() {
  const { admin, change } = useApi();
  const add = useForm({ issuer: '', clientId: '', clientSecret: '' }, async ({ clientSecret, ...others }) => {
    await change('POST', `${admin}/issuers`, { ...others, ...(clientSecret ? { clientSecret } : {}) });
    add.clearFields();
  });
  return (
    <FormCard title="Add an issuer" action={add} submit="Add the issuer">
      <TextField label="Issuer" {...add.field('issuer')} isRequired>
        The address of the identity provider (OpenID Connect), as its tokens name it: https://…
      </TextField>
      <TextField label="Client id" {...add.field('clientId')} isRequired>
        What Portico is called there.
      </TextField>
      <PasswordField label="Client secret" {...add.field('clientSecret')} autoComplete="off" />
    </FormCard>
  );
}
