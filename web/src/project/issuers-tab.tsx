import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Empty, Loading } from '../ui/loading.tsx';
import { type Issuer, IssuerRow } from './issuer-row.tsx';
import { NewIssuer } from './new-issuer.tsx';

/** The identity providers that this Project trusts. */
export function IssuersTab() {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) => api.get<{ issuers: Issuer[] }>(`${api.admin}/issuers`, signal),
    [api],
  );
  const loaded = useLoad(load);
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
