import type { ProjectMembership, Resource } from '@medplum/fhirtypes';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { type InviteFields, inviteFieldNames, inviteRequest } from './invite-fields.ts';
import type { Invited } from './invite-page.tsx';
import { outcomeOf, sentAtMs } from './outcome.ts';

/** Invites once; what was refused is told by field, and nothing else is claimed to have happened. */
export function useInvite(onInvited: (invited: Invited) => void) {
  const api = useApi();
  return useAction(async (fields: InviteFields) => {
    const startedAt = performance.now();
    const answer = await api.fetch(`${api.admin}/invite`, {
      method: 'POST',
      body: inviteRequest(fields),
      contentType: 'application/json',
    });
    const sinceMs = sentAtMs(answer, performance.now() - startedAt);
    const membership = (await answer.json()) as ProjectMembership;
    const profile = await api
      .get<Resource>(`fhir/R4/${membership.profile?.reference}`)
      .catch(() => undefined);
    onInvited({ membership, email: fields.email, outcome: outcomeOf(membership, sinceMs, profile) });
  }, inviteFieldNames);
}
