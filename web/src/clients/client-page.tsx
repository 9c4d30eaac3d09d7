import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { DeleteResource } from '../ui/delete-resource.tsx';
import { Details } from '../ui/details.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Page } from '../ui/page.tsx';
import type { Client } from './client.ts';
import { MakePublic } from './make-public.tsx';
import { RotateSecret } from './rotate-secret.tsx';

export function ClientPage({ id }: { id: string }) {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) => api.get<Client>(`fhir/R4/ClientApplication/${encodeURIComponent(id)}`, signal),
    [api, id],
  );
  const loaded = useLoad(load);
  return (
    <Page title={loaded.value?.name ?? 'API key'}>
      <Loading of={loaded}>
        {(client) => (
          <>
            <section className="card" aria-label="API key">
              <Details
                items={[
                  ['Client id', <code key="id">{client.id}</code>],
                  ['Redirect URIs', redirectsOf(client).join(' ') || 'none'],
                  ['Changed', <Moment key="changed" at={client.meta?.lastUpdated} />],
                  ['Secret', client.public ? 'none: it is a public app' : 'shown once, when it was made'],
                ]}
              />
              <CopyButton text={client.id ?? ''} label="Copy the client id" />
            </section>
            {!client.public && <RotateSecret client={client} />}
            {!client.public && <MakePublic client={client} onMade={loaded.reload} />}
            <DeleteResource resource={client} name={client.name ?? 'this key'} then="/clients">
              <li>Its tokens are refused from the next request on, and it gets no new ones.</li>
              <li>Its membership ends with it.</li>
            </DeleteResource>
          </>
        )}
      </Loading>
      <p>
        <Link href="/clients">All API keys</Link>
      </p>
    </Page>
  );
}

function redirectsOf({ redirectUris, redirectUri }: Client): string[] {
  return redirectUris ?? (redirectUri ? [redirectUri] : []);
}
