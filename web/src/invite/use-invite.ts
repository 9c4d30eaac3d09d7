import type { ProjectMembership } from '@medplum/fhirtypes';
import { useAction } from '../api/use-action.ts';
import { useSession } from '../session/session-context.tsx';
import { type InviteFields, inviteFieldNames, inviteRequest } from './invite-fields.ts';
import type { Invited } from './invite-page.tsx';

/** Invites once; what was refused is told by field, and nothing else is claimed to have happened. */
export function useInvite(onInvited: (invited: Invited) => void) {
  const { portico, me } = useSession();
  return useAction(async (fields: InviteFields) => {
    const membership = await portico.invite(me.project.id, inviteRequest(fields));
    onInvited({ membership: membership as ProjectMembership, email: fields.email });
  }, inviteFieldNames);
}
