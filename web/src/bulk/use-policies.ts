import type { AccessPolicy, Bundle } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import type { NamedPolicy } from './check-table.ts';

/** The policies of the Project, by which a file may name them; none before it is wanted. */
export function usePolicies(isWanted: boolean) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal): Promise<NamedPolicy[]> => {
      if (!isWanted) return [];
      const path = 'fhir/R4/AccessPolicy?_count=1000&_elements=name';
      const { entry = [] } = await api.get<Bundle<AccessPolicy>>(path, signal);
      return entry.map(({ resource }) => ({
        name: resource?.name ?? '',
        reference: `AccessPolicy/${resource?.id}`,
      }));
    },
    [api, isWanted],
  );
  return useLoad(load);
}
