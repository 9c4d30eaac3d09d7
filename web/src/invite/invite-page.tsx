import { useState } from 'react';
import { forgetKept } from '../drafts/drafts.ts';
import { invitationOf, mailSentence, outcomeSentence } from '../members/invitation.ts';
import { Link, Moment, Notice } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { type Invited, InviteForm } from './invite-form.tsx';

export function InvitePage() {
  const [invited, setInvited] = useState<Invited>();
  const [round, setRound] = useState(0);
  return (
    <Page
      title="Invite somebody"
      actions={
        <Link className="button button-plain" href="/invite/many">
          Invite many from a file
        </Link>
      }
    >
      {invited && <InviteResult invited={invited} />}
      <InviteForm
        key={round}
        onInvited={(done) => {
          forgetKept('invite');
          setInvited(done);
          setRound(round + 1);
        }}
        onTyping={() => setInvited(undefined)}
      />
    </Page>
  );
}

/** What has happened, and nothing that may yet fail. */
function InviteResult({ invited: { membership, email } }: { invited: Invited }) {
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
