import type { ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import { Link } from '../ui/link.tsx';
import { Empty } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { lastUsedOf } from './client.ts';
import { type NewClient, NewClientForm } from './new-client-form.tsx';
import { NewSecret } from './new-secret.tsx';

/** API keys: the programs that may call the API of this Project. */
export function ClientsPage() {
  const { admin } = useApi();
  const pages = usePages<ProjectMembership>(`${admin}/members?profile-type=ClientApplication&_count=20`);
  const [created, setCreated] = useState<NewClient>();
  const row = useCallback((membership: ProjectMembership) => <ClientRow membership={membership} />, []);
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

function ClientRow({ membership }: { membership: ProjectMembership }) {
  const { profile, admin, accessPolicy } = membership;
  const id = profile?.reference?.replace('ClientApplication/', '');
  const lastUsed = lastUsedOf(membership);
  const rights = [
    admin ? 'Administrator' : '',
    accessPolicy ? (accessPolicy.display ?? 'An access policy') : 'Default rights',
  ];
  return (
    <>
      <div className="row-main">
        <Link className="link row-title" href={`/clients/${id}`}>
          {profile?.display ?? id}
        </Link>
        <span className="row-more">{rights.filter(Boolean).join(' · ')}</span>
        <span className="row-more code">{id}</span>
      </div>
      <div className="row-side">
        <span className="row-more">
          {lastUsed ? (
            <>
              Last used <Moment at={lastUsed} />
            </>
          ) : (
            'Never used'
          )}
        </span>
      </div>
    </>
  );
}
