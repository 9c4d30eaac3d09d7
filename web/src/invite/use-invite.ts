import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { existingProfilesOf } from './existing-profiles.tsx';
import { type InviteFields, inviteFieldNames, inviteRequest, type WhichProfile } from './invite-fields.ts';
import type { Invited } from './invited.ts';

/** Invites once; what was refused is told by field, and nothing else is claimed to have happened. */
export function useInvite(onInvited: (invited: Invited) => void) {
  const api = useApi();
  const [existing, setExisting] = useState<string[]>();
  const action = useAction(async ({ which, ...fields }: InviteFields & { which?: WhichProfile }) => {
    setExisting(undefined);
    const answer = await api
      .fetch(`${api.admin}/invite`, {
        method: 'POST',
        body: { ...inviteRequest(fields), ...which },
        contentType: 'application/json',
      })
      .catch((error: unknown) => {
        const found = existingProfilesOf(error);
        if (!found) throw error;
        setExisting(found);
      });
    if (!answer) return;
    const membership = (await answer.json()) as ProjectMembership;
    onInvited({ membership, email: fields.email });
  }, inviteFieldNames);
  return { ...action, existing };
}
