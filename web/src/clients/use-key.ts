import type { AccessPolicy, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import type { Client, Key } from './client.ts';

/** A key: itself, how it signs in, and what it may do. */
export function useKey(id: string) {
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
