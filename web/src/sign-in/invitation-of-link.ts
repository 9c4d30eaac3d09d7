import { useCallback } from 'react';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import { postJson } from '../../../client/src/post-json.ts';
import { useLoad } from '../api/use-load.ts';
import { baseUrl } from '../session/session.ts';
import type { MailedLink } from './link-in-address.ts';

/** `POST auth/invitation`. */
export interface InvitationOfLink {
  project: { reference: string; display?: string };
  name?: string;
  email?: string;
  inviter?: string;
  profileType: string;
  expires: string;
  method: 'new-password' | 'own-password' | { issuer: string };
}

/** What a link invites to; `dead` when it leads nowhere any more. */
export function useInvitation(link: MailedLink) {
  const load = useCallback(async () => {
    try {
      return (await postJson(baseUrl, 'auth/invitation', link)) as InvitationOfLink;
    } catch (error) {
      if (error instanceof OperationOutcomeError && error.status === 400) return 'dead';
      throw error;
    }
  }, [link]);
  return useLoad<InvitationOfLink | 'dead'>(load);
}
