import type { Bundle, Resource } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { nameOf } from '../records/name-of.ts';
import type { Picked } from '../ui/resource-picker.tsx';
import { useApi } from './use-api.ts';

/** Finds resources of a type by the beginning of their name, for a ResourcePicker. */
export function useFindByName(type: 'AccessPolicy' | 'Patient' | 'Bot') {
  const api = useApi();
  return useCallback(
    async (text: string, signal: AbortSignal): Promise<Picked[]> => {
      const query = new URLSearchParams({ _count: '10', ...(text.trim() ? { name: text.trim() } : {}) });
      const bundle = await api.get<Bundle<Resource>>(`fhir/R4/${type}?${query}`, signal);
      return (bundle.entry ?? []).flatMap(({ resource }) =>
        resource?.id ? [{ reference: `${type}/${resource.id}`, display: nameOf(resource) }] : [],
      );
    },
    [api, type],
  );
}
