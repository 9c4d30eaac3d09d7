import type { AccessPolicy, ClientApplication, ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useApi, useLoad } from '../api/use-api.ts';
import { type MemberWithPolicies, RightsForm } from '../members/rights-form.tsx';
import { Card, CopyButton, Details, Loading, Moment } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form, FormCard, useForm } from '../ui/form.tsx';
import { ConfirmedButton, DeleteResource, Page } from '../ui/page.tsx';
import { type CreatedClient, NewSecret, urisIn } from './clients-page.tsx';

type Client = ClientApplication & { redirectUris?: string[]; redirectUri?: string; public?: boolean };

/** `GET admin/projects/<id>/client/<id>`: how it signs in. Instants as FHIR writes them. */
interface ClientState {
  membership: { reference: string };
  hasSecret: boolean;
  rotated?: string;
  oldSecretUntil?: string;
  expires?: string;
  lastUsed?: string;
}

interface Key {
  client: Client;
  state: ClientState;
  member: MemberWithPolicies;
}

/** One API key: how it signs in, what it may do, and how it ends. */
export function ClientPage({ id }: { id: string }) {
  const api = useApi();
  const loaded = useLoad(id, async (signal): Promise<Key> => {
    const name = encodeURIComponent(id);
    const [client, state] = await Promise.all([
      api.get<Client>(`fhir/R4/ClientApplication/${name}`, signal),
      api.get<ClientState>(`${api.admin}/client/${name}`, signal),
    ]);
    const membershipId = state.membership.reference.replace('ProjectMembership/', '');
    const membership = await api.get<ProjectMembership>(`${api.admin}/members/${membershipId}`, signal);
    const reference = membership.accessPolicy?.reference;
    // One that is gone still stands there, and grants nothing.
    const policy = reference
      ? await api.get<AccessPolicy>(`fhir/R4/${reference}`, signal).catch(() => undefined)
      : undefined;
    return { client, state, member: { membership, policy } };
  });
  return (
    <Page title={loaded.value?.client.name ?? 'API key'} back={{ label: 'All API keys', href: '/clients' }}>
      <Loading of={loaded}>{(found) => <KeyCards {...found} />}</Loading>
    </Page>
  );
}

function KeyCards({ client, state, member }: Key) {
  const { admin, change } = useApi();
  const { lastUsed, expires, rotated, hasSecret, oldSecretUntil } = state;
  const { name = 'this key' } = client;
  const hosts = new Set(redirectsOf(client).map((uri) => URL.parse(uri)?.host || uri));
  const replaced = <Moment before="replaced" at={rotated} or="shown once, when the key was created" />;
  return (
    <>
      <Card label="API key">
        <Details
          of={{
            'Client id': <code>{client.id}</code>,
            'Last used': <Moment at={lastUsed} or="never" />,
            Expires: <Moment at={expires} or="never" />,
            Secret: hasSecret ? replaced : client.public ? 'none: it is a public app' : 'none',
          }}
        />
        <CopyButton text={client.id ?? ''} label="Copy the client id" />
      </Card>
      {!client.public && (
        <Card title="Secret">
          {oldSecretUntil && (
            <div className="notice">
              <p>
                Two secrets work: the old one until <Moment at={oldSecretUntil} />.
              </p>
              <ConfirmedButton
                label="End the old secret now"
                kind="plain"
                title="End the old secret?"
                deed="End it"
                act={() => change('POST', `${admin}/client/${client.id}`, { endOldSecret: true })}
              >
                <p>Programs that still have the old secret get no new tokens.</p>
              </ConfirmedButton>
            </div>
          )}
          <RotateSecret client={client} />
          <ExpiryForm key={expires} client={client} expires={expires} />
        </Card>
      )}
      <RightsForm member={member} />
      <RedirectsForm client={client} />
      {!client.public && (
        <ConfirmedButton
          label="Make it a public app"
          kind="plain"
          title={`Make ${name} a public app?`}
          deed="Make it public"
          act={() => change('PUT', `fhir/R4/ClientApplication/${client.id}`, { ...client, public: true })}
        >
          <ul>
            <li>For an app in a browser or on a phone: it signs people in with its id alone.</li>
            <li>Its secret is removed, and programs that have it are locked out.</li>
          </ul>
        </ConfirmedButton>
      )}
      <DeleteResource resource={client} name={name} then="/clients">
        <li>
          <Moment before="It was last used" at={lastUsed} or="It has never been used." />
          {lastUsed && ': whatever uses it stops working.'}
        </li>
        <li>Its tokens are refused from the next request, and it gets no new ones.</li>
        {hosts.size > 0 && <li>Nobody can sign in to its app any more: {[...hosts].join(', ')}.</li>}
        <li>Its membership ends with it.</li>
      </DeleteResource>
    </>
  );
}

function redirectsOf({ redirectUris, redirectUri }: Client): string[] {
  return redirectUris ?? (redirectUri ? [redirectUri] : []);
}

/** By hours. */
const keeping = {
  0: 'stops working at once',
  1: 'works for 1 more hour',
  24: 'works for 1 more day',
  168: 'works for 7 more days',
};

function RotateSecret({ client }: { client: Client }) {
  const { admin, change } = useApi();
  const [rotated, setRotated] = useState<CreatedClient>();
  const [keepOldHours, setKeepOldHours] = useState('24');
  const { id = '', name = 'this key' } = client;
  const rotate = async () => {
    const body = { keepOldHours: Number(keepOldHours) };
    setRotated(await change('POST', `${admin}/client/${encodeURIComponent(id)}/secret`, body));
  };
  return (
    <>
      {rotated && <NewSecret key={rotated.secret} client={rotated} title={`${name} has a new secret`} />}
      <ConfirmedButton
        label="New secret"
        kind="plain"
        title={`A new secret for ${name}?`}
        deed="Replace the secret"
        act={rotate}
      >
        <Select label="The old secret" value={keepOldHours} options={keeping} onChange={setKeepOldHours} />
        <ul>
          {keepOldHours === '0' ? (
            <li>Programs that have the old secret are locked out at once: they get no new tokens with it.</li>
          ) : (
            <li>Both secrets work meanwhile. A secret that is older still stops working at once.</li>
          )}
          <li>Tokens that they hold stay good until they end, within an hour.</li>
          <li>The new secret is shown once.</li>
        </ul>
      </ConfirmedButton>
    </>
  );
}

function ExpiryForm({ client, expires }: { client: Client; expires: string | undefined }) {
  const { admin, change } = useApi();
  // Swedes write a day as a field of days does: 2026-01-31.
  const saved = expires === undefined ? '' : new Date(expires).toLocaleDateString('sv-SE');
  const save = useForm({ expires: saved }, ({ expires: day }) => {
    const next = day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
    return change('POST', `${admin}/client/${client.id}`, { expires: next });
  });
  return (
    <Form
      label="Expiry"
      action={save}
      submit="Save the last day"
      kind="plain"
      isDisabled={save.values.expires === saved}
    >
      <TextField label="Last day" type="date" {...save.field('expires')}>
        After it the key gets no tokens. Leave it empty for a key that does not expire.
      </TextField>
    </Form>
  );
}

function RedirectsForm({ client }: { client: Client }) {
  const { change } = useApi();
  const save = useForm({ redirectUris: redirectsOf(client).join('\n') }, (typed) => {
    const { redirectUri: _, redirectUris: __, ...others } = client;
    const redirectUris = urisIn(typed.redirectUris);
    const body = { ...others, ...(redirectUris.length > 0 ? { redirectUris } : {}) };
    return change('PUT', `fhir/R4/ClientApplication/${client.id}`, body, client.meta?.versionId);
  });
  return (
    <FormCard
      title="Signing people in"
      className="card"
      action={save}
      submit="Save the redirect URIs"
      kind="plain"
      saved="Saved."
    >
      <TextField label="Redirect URIs" rows={3} spellCheck="false" {...save.field('redirectUris')}>
        Only for an app that signs people in: one per line, compared character for character. One that is
        removed stops working at once.
      </TextField>
    </FormCard>
  );
}
