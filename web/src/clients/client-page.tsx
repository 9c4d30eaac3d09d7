import { RightsForm } from '../members/rights-form.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { DeleteResource } from '../ui/delete-resource.tsx';
import { Details } from '../ui/details.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Page } from '../ui/page.tsx';
import { type Key, redirectsOf } from './client.ts';
import { ExpiryForm } from './expiry-form.tsx';
import { MakePublic } from './make-public.tsx';
import { OldSecret } from './old-secret.tsx';
import { RedirectsForm } from './redirects-form.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { useKey } from './use-key.ts';

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
