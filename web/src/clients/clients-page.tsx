import type { ClientApplication } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { usePages } from '../api/use-pages.ts';
import { Link } from '../ui/link.tsx';
import { Empty } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { type NewClient, NewClientForm } from './new-client-form.tsx';
import { NewSecret } from './new-secret.tsx';

/** API keys: the programs that may call the API of this Project. */
export function ClientsPage() {
  const pages = usePages<ClientApplication>('fhir/R4/ClientApplication?_count=20&_sort=name');
  const [created, setCreated] = useState<NewClient>();
  const row = useCallback((client: ClientApplication) => <ClientRow client={client} />, []);
  return (
    <Page title="API keys">
      {created && <NewSecret client={created} title={`${created.name} is created`} />}
      <PagedList pages={pages} label="API keys" row={row} empty={<Empty title="No API keys" />} />
      <section className="card narrow" aria-labelledby="new-key">
        <h2 id="new-key">Create an API key</h2>
        <NewClientForm
          key={created?.id}
          onCreated={(client) => {
            setCreated(client);
            pages.reload();
          }}
        />
      </section>
    </Page>
  );
}

function ClientRow({ client: { id, name, description } }: { client: ClientApplication }) {
  return (
    <div className="row-main">
      <Link className="link row-title" href={`/clients/${id}`}>
        {name}
      </Link>
      {description && <span className="row-more">{description}</span>}
      <span className="row-more code">{id}</span>
    </div>
  );
}
