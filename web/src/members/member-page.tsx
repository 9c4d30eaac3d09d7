import type { AccessPolicy, ProjectMembership, Resource } from '@medplum/fhirtypes';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { fieldsOf } from '../../../shared/base/values.ts';
import type { InvitationState } from '../../../shared/identity/invitations/states.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { emergencyOf, emergencyPolicyOf } from '../emergency/emergency.ts';
import { nameOf } from '../records/record-text.ts';
import { useSession } from '../session/session-state.ts';
import {
  ActionButton,
  Badge,
  ButtonLink,
  Card,
  Details,
  Failure,
  Loading,
  Moment,
  Notice,
} from '../ui/basics.tsx';
import { ConfirmedButton, Page } from '../ui/page.tsx';
import { type InvitationStatus, invitationOf, profileType, standingOf } from './invitation.ts';
import { RightsForm } from './rights-form.tsx';

/** One member: how they stand, what they may do, and how they leave. */
export function MemberPage({ id }: { id: string }) {
  const api = useApi();
  const loaded = useLoad(id, async (signal) => {
    const path = `${api.admin}/members/${encodeURIComponent(id)}`;
    const membership = await api.get<ProjectMembership>(path, signal);
    const read = <R extends Resource>(reference: string | undefined) =>
      reference ? api.get<R>(`fhir/R4/${reference}`, signal).catch(() => undefined) : undefined;
    const [profile, policy, emergencyPolicy, inviter] = await Promise.all([
      read<Resource>(membership.profile?.reference),
      read<AccessPolicy>(membership.accessPolicy?.reference),
      read<AccessPolicy>(emergencyPolicyOf(membership)),
      read<Resource>(membership.invitedBy?.reference),
    ]);
    const inviterName = inviter && nameOf(inviter);
    return { member: { membership, policy, emergencyPolicy }, email: emailOf(profile), inviterName };
  });
  return (
    <Page
      title={loaded.value?.member.membership.profile?.display ?? 'Member'}
      actions={<ButtonLink label="View as this person" href={`/members/${id}/view`} kind="plain" />}
      back={{ label: 'All members', href: '/members' }}
    >
      <Loading of={loaded}>
        {({ member, email, inviterName }) => {
          const { membership } = member;
          const { label, kind } = standingOf(membership);
          return (
            <>
              <Card label="Standing">
                <Details
                  of={{
                    State: <Badge kind={kind}>{label}</Badge>,
                    Kind: profileType(membership.profile?.reference),
                    'E-mail': email,
                    'Invited by': inviterName ?? 'set up with the project',
                  }}
                />
              </Card>
              <EmergencyCard membership={membership} />
              {invitationOf(membership) && (
                <>
                  <InvitationCard membership={membership} />
                  <RightsForm member={member} />
                  <RemoveMember membership={membership} />
                </>
              )}
            </>
          );
        }}
      </Loading>
    </Page>
  );
}

function emailOf(profile: Resource | undefined): string | undefined {
  const { telecom } = fieldsOf(profile);
  const all = Array.isArray(telecom) ? telecom.map(fieldsOf) : [];
  const email = all.find(({ system }) => system === 'email')?.value;
  return typeof email === 'string' ? email : undefined;
}

function RemoveMember({ membership }: { membership: ProjectMembership }) {
  const { admin, send } = useApi();
  const { me } = useSession();
  const [, navigate] = useLocation();
  const name = membership.profile?.display ?? 'this member';
  return (
    <Card title="Leave the project">
      <p>Ends the membership of {name}. Their records stay.</p>
      <ConfirmedButton
        label="Remove from the project"
        deed={`Remove ${name}`}
        act={async () => {
          await send('DELETE', `${admin}/members/${membership.id}`);
          navigate('/members');
        }}
      >
        <ul>
          <li>
            They are signed out of {me.project.name ?? 'this project'} and refused from their next request on.
          </li>
          <li>An invitation that is still open ends.</li>
          <li>
            The {profileType(membership.profile?.reference)} record and everything that refers to it stay
            where they are.
          </li>
          <li>Their account and their other projects are not touched.</li>
          <li>Invited again as the same kind, they get this record back.</li>
        </ul>
      </ConfirmedButton>
    </Card>
  );
}

const explain: Record<Exclude<InvitationState, 'accepted'>, (invitation: InvitationStatus) => ReactNode> = {
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

function InvitationCard({ membership }: { membership: ProjectMembership }) {
  const { admin, change } = useApi();
  const [done, setDone] = useState<string>();
  const act = (method: string, said: string) => async () => {
    await change(method, `${admin}/members/${membership.id}/invitation`);
    setDone(said);
  };
  const resend = useAction(
    act('POST', 'An e-mail with a new link is on its way. Earlier links no longer work.'),
  );
  const invitation = invitationOf(membership);
  if (!invitation || invitation.state === 'accepted') return null;
  return (
    <Card title="Invitation">
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
        <ActionButton label="Send a new link" action={resend} />
        {invitation.state !== 'revoked' && (
          <ConfirmedButton
            label="Revoke"
            deed="Revoke the invitation"
            act={act('DELETE', 'The invitation is revoked. Its link no longer works.')}
          >
            <p>The link in the e-mail stops working at once. You can invite the person again at any time.</p>
          </ConfirmedButton>
        )}
      </div>
    </Card>
  );
}

function EmergencyCard({ membership }: { membership: ProjectMembership }) {
  const { admin, change } = useApi();
  const end = useAction(() => change('DELETE', `${admin}/members/${membership.id}/emergency`));
  const grant = emergencyOf(membership);
  if (!grant) return null;
  return (
    <Card title="They have emergency access">
      <Details
        of={{
          Since: <Moment at={grant.since} />,
          Until: <Moment at={grant.until} />,
          'Their reason': grant.reason,
        }}
      />
      <Failure message={end.message} />
      <ActionButton label="End it now" kind="danger" action={end} />
    </Card>
  );
}
