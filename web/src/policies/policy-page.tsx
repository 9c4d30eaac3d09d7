import type { AccessPolicy } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { DeleteResource } from '../ui/delete-resource.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { HeldBy } from './held-by.tsx';
import { PolicyForm } from './policy-form.tsx';

export function PolicyPage({ id }: { id: string }) {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) => api.get<AccessPolicy>(`fhir/R4/AccessPolicy/${encodeURIComponent(id)}`, signal),
    [api, id],
  );
  const loaded = useLoad(load);
  return (
    <Page title={loaded.value?.name ?? 'Access policy'}>
      <Loading of={loaded}>
        {(policy) => (
          <>
            <PolicyForm key={policy.id} policy={policy} onSaved={loaded.reload} />
            <DeleteResource resource={policy} name={policy.name ?? 'this policy'} then="/policies">
              <HeldBy policyId={id} />
            </DeleteResource>
          </>
        )}
      </Loading>
      <p>
        <Link href="/policies">All access policies</Link>
      </p>
    </Page>
  );
}
