import { useState } from 'react';
import { useAction, useApi, useGet } from '../api/use-api.ts';
import { Button, Empty, Failure, Loading, Notice } from '../ui/basics.tsx';
import { ConfirmedButton } from '../ui/confirm.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { ActionForm, useForm } from '../ui/form.tsx';

/** The identity providers that this Project trusts. */
export function IssuersTab() {
  const { admin } = useApi();
  const loaded = useGet<{ issuers: Issuer[] }>(`${admin}/issuers`);
  return (
    <Loading of={loaded}>
      {({ issuers }) => (
        <>
          {issuers.length === 0 ? (
            <Empty title="No issuers">
              <p>People sign in with a password. Add the identity provider of your organization below.</p>
            </Empty>
          ) : (
            <ul className="rows" aria-label="Issuers">
              {issuers.map((issuer) => (
                <IssuerRow key={issuer.id} issuer={issuer} onRemoved={loaded.reload} />
              ))}
            </ul>
          )}
          <NewIssuer onAdded={loaded.reload} />
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

/** `POST …/issuers/<id>/test` */
interface IssuerTest {
  works: boolean;
  problem?: string;
}

/** One issuer, which can be tested and removed. */
function IssuerRow({ issuer, onRemoved }: { issuer: Issuer; onRemoved(): void }) {
  const { admin, send, fetch } = useApi();
  const [result, setResult] = useState<IssuerTest>();
  const path = `${admin}/issuers/${issuer.id}`;
  const test = useAction(async () => {
    setResult(undefined);
    setResult(await send<IssuerTest>('POST', `${path}/test`));
  });
  return (
    <li className="row">
      <div className="row-main">
        <span className="row-title">{issuer.issuer}</span>
        <span className="row-more">
          Client {issuer.clientId}, {issuer.hasSecret ? 'with a secret' : 'without a secret'}
        </span>
        <span className="row-more">
          Redirect URI to register there: <code>{issuer.redirectUri}</code>
        </span>
        <Failure message={test.message} />
        {result && (
          <Notice kind={result.works ? 'good' : 'bad'}>
            {result.works
              ? 'It answers, and its keys can be used. Whether the client is registered there shows when somebody signs in.'
              : `It cannot be used. ${result.problem}.`}
          </Notice>
        )}
      </div>
      <div className="row-side">
        <Button aria-label={`Test ${issuer.issuer}`} isPending={test.isBusy} onPress={() => test.run()}>
          Test
        </Button>
        <ConfirmedButton
          label="Remove"
          name={`Remove ${issuer.issuer}`}
          title={`Remove ${issuer.issuer}?`}
          deed="Remove it"
          act={async () => {
            await fetch(path, { method: 'DELETE' });
            onRemoved();
          }}
        >
          <ul>
            <li>Nobody signs in to this project with it any more. Sessions end within the hour.</li>
            <li>People who can sign in with nothing else are locked out until it is added again.</li>
          </ul>
        </ConfirmedButton>
      </div>
    </li>
  );
}

/** Adds an identity provider. It is asked before it is kept, so that a mistake shows at once. */
function NewIssuer({ onAdded }: { onAdded(): void }) {
  const { admin, send } = useApi();
  const add = useForm({ issuer: '', clientId: '', clientSecret: '' }, async ({ clientSecret, ...others }) => {
    await send('POST', `${admin}/issuers`, { ...others, ...(clientSecret ? { clientSecret } : {}) });
    add.clearFields();
    onAdded();
  });
  return (
    <section className="card narrow" aria-labelledby="new-issuer">
      <h2 id="new-issuer">Add an issuer</h2>
      <ActionForm label="Add an issuer" action={add} submit="Add the issuer">
        <TextField
          label="Issuer"
          help="The address of the identity provider (OpenID Connect), as its tokens name it: https://…"
          {...add.field('issuer')}
          isRequired
          autoComplete="off"
        />
        <TextField
          label="Client id"
          help="What Portico is called there."
          {...add.field('clientId')}
          isRequired
          autoComplete="off"
        />
        <PasswordField label="Client secret" {...add.field('clientSecret')} autoComplete="off" />
      </ActionForm>
    </section>
  );
}
