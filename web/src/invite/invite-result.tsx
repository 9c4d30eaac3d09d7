import { invitationOf } from '../members/invitation.ts';
import { Link } from '../ui/link.tsx';
import { Moment } from '../ui/moment.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Invited } from './invited.ts';
import { mailSentence, outcomeSentence } from './sentences.ts';

/** What has happened, and nothing that may yet fail. */
export function InviteResult({ invited: { membership, email } }: { invited: Invited }) {
  const invitation = invitationOf(membership);
  const name = membership.profile?.display ?? email;
  return (
    <Notice kind="good" takesFocus>
      <p>
        {invitation?.outcome && <strong>{outcomeSentence(name, invitation.outcome)}</strong>}{' '}
        {invitation?.state === 'pending' && (
          <>
            {mailSentence(email, invitation)} The invitation is valid until <Moment at={invitation.expires} />
            .
          </>
        )}
      </p>
      <Link href={`/members/${membership.id}`}>See {name}</Link>
    </Notice>
  );
}
