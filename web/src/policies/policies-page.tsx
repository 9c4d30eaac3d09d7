import type { AccessPolicy } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { usePages } from '../api/use-pages.ts';
import { Link } from '../ui/link.tsx';
import { Empty } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';

export function PoliciesPage() {
  const pages = usePages<AccessPolicy>('fhir/R4/AccessPolicy?_count=20&_sort=name');
  const row = useCallback((policy: AccessPolicy) => <PolicyRow policy={policy} />, []);
  return (
    <Page
      title="Access policies"
      actions={
        <Link className="button button-primary" href="/policies/new">
          Create a policy
        </Link>
      }
    >
      <PagedList
        pages={pages}
        label="Access policies"
        row={row}
        empty={
          <Empty title="No access policies">
            <p>Without one, members have the default rights of their role.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function PolicyRow({ policy }: { policy: AccessPolicy }) {
  const types = (policy.resource ?? []).map(({ resourceType }) =>
    resourceType === '*' ? 'every type' : resourceType,
  );
  return (
    <div className="row-main">
      <Link className="link row-title" href={`/policies/${policy.id}`}>
        {policy.name ?? 'No name'}
      </Link>
      <span className="row-more">{types.join(', ') || 'grants nothing'}</span>
    </div>
  );
}
