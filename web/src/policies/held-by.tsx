import type { Bundle } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';

/** Who loses rights with a policy, as list items: asked for when somebody is about to delete it. */
export function HeldBy({ policyId }: { policyId: string }) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const count = async (parameter: string) => {
        const query = new URLSearchParams({ [parameter]: `AccessPolicy/${policyId}`, _summary: 'count' });
        return (await api.get<Bundle>(`fhir/R4/ProjectMembership?${query}`, signal)).total;
      };
      const [held, prepared] = await Promise.all([count('access-policy'), count('emergency-policy')]);
      return { held, prepared };
    },
    [api, policyId],
  );
  const { value, state } = useLoad(load);
  return (
    <>
      <li>
        <span role="status">{state === 'loading' ? 'Counting who has it…' : heldBy(value?.held)}</span>
      </li>
      {value?.held !== 0 && (
        <li>From their next request on they may do nothing, until they are given another policy.</li>
      )}
      {state !== 'loading' && value?.prepared !== 0 && <li>{preparedFor(value?.prepared)}</li>}
    </>
  );
}

function preparedFor(count: number | undefined): string {
  const lost = 'emergency access, and lose it, also while it goes on.';
  if (count === undefined) return `Members may have this policy prepared for ${lost}`;
  if (count === 1)
    return '1 member has it prepared for emergency access, and loses it, also while it goes on.';
  return `${count} members have it prepared for ${lost}`;
}

function heldBy(count: number | undefined): string {
  if (count === undefined) return 'Members, Bots and API keys may have this policy.';
  if (count === 0) return 'Nobody has this policy.';
  return `This policy is held by ${count === 1 ? '1 member' : `${count} members`}, Bots and API keys included.`;
}
