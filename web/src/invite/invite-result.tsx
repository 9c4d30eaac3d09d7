import { invitationOf } from '../members/invitation.ts';
import { Link } from '../ui/link.tsx';
import { Moment } from '../ui/moment.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Invited } from './invite-page.tsx';

/** What has happened, and nothing that may yet fail. */
export function InviteResult({ invited: { membership, email } }: { invited: Invited }) {
  const invitation = invitationOf(membership);
  const name = membership.profile?.display ?? email;
  return (
    <Notice kind="good">
      <p>
        <strong>{name} is invited.</strong>{' '}
        {invitation?.mailRequested
          ? `A mail to ${email} is on its way.`
          : 'No mail is sent: they can accept when they sign in the next time.'}{' '}
        The invitation is good until <Moment at={invitation?.expires} />.
      </p>
      <Link href={`/members/${membership.id}`}>See {name}</Link>
    </Notice>
  );
}
