import type { ProjectMembership } from '@medplum/fhirtypes';
import { type ReactNode, useState } from 'react';
import type { InvitationState } from '../../../shared/invitation/states.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Moment } from '../ui/moment.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { type Invitation, invitationOf } from './invitation.ts';

const explain: Record<Exclude<InvitationState, 'accepted'>, (invitation: Invitation) => ReactNode> = {
  pending: ({ expires, mailRequested }) => (
    <>
      The link works until <Moment at={expires} />.{' '}
      {!mailRequested && 'No e-mail was requested: the person can accept the next time they sign in.'}
    </>
  ),
  expired: ({ expires }) => (
    <>
      Nobody accepted it before <Moment at={expires} />.
    </>
  ),
  revoked: () => 'It was withdrawn. The person can be invited again.',
};

/** An invitation that nobody has accepted: sent again, or taken back. */
export function InvitationCard({
  membership,
  onChange,
}: {
  membership: ProjectMembership;
  onChange(): void;
}) {
  const { admin, send } = useApi();
  const [isAsking, setAsking] = useState(false);
  const [done, setDone] = useState<string>();
  const path = `${admin}/members/${membership.id}/invitation`;
  const change = (method: string, said: string) => async () => {
    await send(method, path);
    setAsking(false);
    setDone(said);
    onChange();
  };
  const resend = useAction(
    change('POST', 'An e-mail with a new link is on its way. Earlier links no longer work.'),
  );
  const revoke = useAction(change('DELETE', 'The invitation is revoked. Its link no longer works.'));
  const invitation = invitationOf(membership);
  if (!invitation || invitation.state === 'accepted') return null;
  return (
    <section className="card" aria-labelledby="invitation">
      <h2 id="invitation">Invitation</h2>
      <p>{explain[invitation.state](invitation)}</p>
      {invitation.mail === 'bounced' && (
        <Notice kind="bad">
          The e-mail came back: the address does not accept it. Remove this invitation and use another
          address.
        </Notice>
      )}
      {invitation.mail === 'complained' && (
        <Notice kind="bad">
          The person reported the e-mail as unwanted. This address gets no more e-mail from the project.
        </Notice>
      )}
      {done && <Notice kind="good">{done}</Notice>}
      <Failure message={resend.message} />
      <div className="buttons">
        <Button isPending={resend.isBusy} onPress={() => resend.run()}>
          Send a new link
        </Button>
        {invitation.state !== 'revoked' && (
          <Button kind="danger" onPress={() => setAsking(true)}>
            Revoke
          </Button>
        )}
      </div>
      <Confirm
        isOpen={isAsking}
        title="Revoke the invitation?"
        deed="Revoke the invitation"
        isBusy={revoke.isBusy}
        message={revoke.message}
        onConfirm={() => revoke.run()}
        onClose={() => setAsking(false)}
      >
        <p>The link in the e-mail stops working at once. You can invite the person again at any time.</p>
      </Confirm>
    </section>
  );
}
