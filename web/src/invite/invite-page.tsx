import { useState } from 'react';
import { forgetKept } from '../drafts/kept-inputs.ts';
import { Link } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { InviteForm } from './invite-form.tsx';
import { InviteResult } from './invite-result.tsx';
import type { Invited } from './invited.ts';

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
