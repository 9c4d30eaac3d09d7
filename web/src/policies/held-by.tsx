import type { Bundle } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';

/** Who loses their rights with a policy, as list items: asked for when somebody is about to delete it. */
export function HeldBy({ policyId }: { policyId: string }) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const query = new URLSearchParams({ 'access-policy': `AccessPolicy/${policyId}`, _summary: 'count' });
      return (await api.get<Bundle>(`fhir/R4/ProjectMembership?${query}`, signal)).total;
    },
    [api, policyId],
  );
  const { value, state } = useLoad(load);
  return (
    <>
      <li>
        <span role="status">{state === 'loading' ? 'Counting who has it…' : heldBy(value)}</span>
      </li>
      <li>Whoever has it prepared for emergencies, which is not counted here, loses that.</li>
      {value !== 0 && (
        <li>From their next request on they may do nothing, until they are given another policy.</li>
      )}
    </>
  );
}

function heldBy(count: number | undefined): string {
  if (count === undefined) return 'Members, Bots and API keys may have this policy.';
  if (count === 0) return 'Nobody has this policy.';
  return `This policy is held by ${count === 1 ? '1 member' : `${count} members`}, Bots and API keys included.`;
}
