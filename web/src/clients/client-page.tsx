import type { AccessPolicy, ClientApplication, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { RightsForm } from '../members/rights-form.tsx';
import { Button, CopyButton, Details, Failure, Link, Loading, Moment, Notice } from '../ui/basics.tsx';
import { Confirm, DeleteResource } from '../ui/confirm.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { type Client, type Key, redirectsOf } from './client.ts';
import { OldSecret, RotateSecret } from './client-secret.tsx';

/** One API key: how it signs in, what it may do, and how it ends. */
export function ClientPage({ id }: { id: string }) {
  const loaded = useKey(id);
  return (
    <Page title={loaded.value?.client.name ?? 'API key'}>
      <Loading of={loaded}>{(found) => <KeyCards found={found} onChange={loaded.reload} />}</Loading>
      <p>
        <Link href="/clients">All API keys</Link>
      </p>
    </Page>
  );
}

function KeyCards({ found, onChange }: { found: Key; onChange(): void }) {
  const { client, state, member } = found;
  const { lastUsed, expires, rotated, hasSecret } = state;
  const name = client.name ?? 'this key';
  return (
    <>
      <section className="card" aria-label="API key">
        <Details
          items={[
            ['Client id', <code key="id">{client.id}</code>],
            ['Last used', lastUsed ? <Moment key="used" at={lastUsed} /> : 'never'],
            ['Expires', expires ? <Moment key="expires" at={expires} /> : 'never'],
            ['Secret', hasSecret ? secretOf(rotated) : client.public ? 'none: it is a public app' : 'none'],
          ]}
        />
        <CopyButton text={client.id ?? ''} label="Copy the client id" />
      </section>
      {!client.public && (
        <section className="card" aria-labelledby="secret">
          <h2 id="secret">Secret</h2>
          <OldSecret client={client} until={state.oldSecretUntil} onEnded={onChange} />
          <RotateSecret client={client} onRotated={onChange} />
          <ExpiryForm key={expires} client={client} expires={expires} onSaved={onChange} />
        </section>
      )}
      <RightsForm member={member} onChange={onChange} />
      <RedirectsForm client={client} onSaved={onChange} />
      {!client.public && <MakePublic client={client} onMade={onChange} />}
      <DeleteResource resource={client} name={name} then="/clients">
        <li>{usedWords(lastUsed)}</li>
        <li>Its tokens are refused from the next request, and it gets no new ones.</li>
        {redirectsOf(client).length > 0 && <li>Nobody can sign in to its app any more: {hostsOf(found)}.</li>}
        <li>Its membership ends with it.</li>
      </DeleteResource>
    </>
  );
}

function secretOf(rotated: string | undefined) {
  return rotated ? (
    <>
      replaced <Moment at={rotated} />
    </>
  ) : (
    'shown once, when the key was created'
  );
}

function usedWords(lastUsed: string | undefined) {
  return lastUsed ? (
    <>
      It was last used <Moment at={lastUsed} />: whatever uses it stops working.
    </>
  ) : (
    'It has never been used.'
  );
}

function hostsOf({ client }: Key): string {
  return [...new Set(redirectsOf(client).map((uri) => URL.parse(uri)?.host || uri))].join(', ');
}

/** A key: itself, how it signs in, and what it may do. */
function useKey(id: string) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal): Promise<Key> => {
      const name = encodeURIComponent(id);
      const [client, state] = await Promise.all([
        api.get<Client>(`fhir/R4/ClientApplication/${name}`, signal),
        api.get<Key['state']>(`${api.admin}/client/${name}`, signal),
      ]);
      const membershipId = state.membership.reference.replace('ProjectMembership/', '');
      const membership = await api.get<ProjectMembership>(`${api.admin}/members/${membershipId}`, signal);
      const reference = membership.accessPolicy?.reference;
      // One that is gone still stands there, and grants nothing.
      const policy = reference
        ? await api.get<AccessPolicy>(`fhir/R4/${reference}`, signal).catch(() => undefined)
        : undefined;
      return {
        client,
        state,
        member: { membership, policy, emergencyPolicy: undefined, email: undefined, inviter: undefined },
      };
    },
    [api, id],
  );
  return useLoad(load);
}

interface Props {
  client: ClientApplication;
  /** An instant; undefined for never. */
  expires: string | undefined;
  onSaved(): void;
}

/** The day after which a key gets no tokens. */
function ExpiryForm({ client, expires, onSaved }: Props) {
  const { admin, send } = useApi();
  const saved = dayOf(expires);
  const [day, setDay] = useState(saved);
  const save = useAction(async () => {
    const next = day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
    await send('POST', `${admin}/client/${client.id}`, { expires: next });
    onSaved();
  }, ['expires']);
  return (
    <Form label="Expiry" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
      <TextField
        label="Last day"
        name="expires"
        type="date"
        help="After it the key gets no tokens. Leave it empty for a key that does not expire."
        value={day}
        onChange={setDay}
      />
      <Failure message={save.message} />
      <div>
        <Button type="submit" isDisabled={day === saved} isPending={save.isBusy}>
          Save the last day
        </Button>
      </div>
    </Form>
  );
}

/** Where the reader is. */
function dayOf(instant: string | undefined): string {
  if (instant === undefined) return '';
  const date = new Date(instant);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}

/** Where an app that signs people in may take them. */
function RedirectsForm({ client, onSaved }: { client: Client; onSaved(): void }) {
  const { send } = useApi();
  const [text, setText] = useState(redirectsOf(client).join('\n'));
  const [isSaved, setSaved] = useState(false);
  const save = useAction(async () => {
    setSaved(false);
    const { redirectUri: _, redirectUris: __, ...others } = client;
    const redirectUris = text.split(/\s+/).filter(Boolean);
    const body = { ...others, ...(redirectUris.length > 0 ? { redirectUris } : {}) };
    const version = { 'if-match': `W/"${client.meta?.versionId}"` };
    await send('PUT', `fhir/R4/ClientApplication/${client.id}`, body, version);
    setSaved(true);
    onSaved();
  }, ['redirectUris']);
  return (
    <section className="card" aria-labelledby="redirects">
      <h2 id="redirects">Signing people in</h2>
      <Form label="Signing people in" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
        <TextField
          label="Redirect URIs"
          name="redirectUris"
          rows={3}
          spellCheck="false"
          help="Only for an app that signs people in: one per line, compared character for character. One that is removed stops working at once."
          value={text}
          onChange={(next) => {
            setText(next);
            setSaved(false);
          }}
        />
        <Failure message={save.message} />
        {isSaved && <Notice kind="good">Saved.</Notice>}
        <div>
          <Button type="submit" isPending={save.isBusy}>
            Save the redirect URIs
          </Button>
        </div>
      </Form>
    </section>
  );
}

/** Takes the secret from an app that cannot keep one, after saying what that means. */
function MakePublic({ client, onMade }: { client: Client; onMade(): void }) {
  const { send } = useApi();
  const [isAsking, setAsking] = useState(false);
  const name = client.name ?? 'this key';
  const make = useAction(async () => {
    const path = `fhir/R4/ClientApplication/${encodeURIComponent(client.id ?? '')}`;
    await send('PUT', path, { ...client, public: true });
    setAsking(false);
    onMade();
  });
  return (
    <>
      <div>
        <Button onPress={() => setAsking(true)}>Make it a public app</Button>
      </div>
      <Confirm
        isOpen={isAsking}
        title={`Make ${name} a public app?`}
        deed="Make it public"
        isBusy={make.isBusy}
        message={make.message}
        onConfirm={() => make.run()}
        onClose={() => {
          setAsking(false);
          make.clear();
        }}
      >
        <ul>
          <li>For an app in a browser or on a phone: it signs people in with its id alone.</li>
          <li>Its secret is removed, and programs that have it are locked out.</li>
        </ul>
      </Confirm>
    </>
  );
}
