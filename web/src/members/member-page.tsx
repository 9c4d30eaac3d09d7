import type { AccessPolicy, ProjectMembership, Resource } from '@medplum/fhirtypes';
import { type ReactNode, useCallback, useState } from 'react';
import { useLocation } from 'wouter';
import { fieldsOf } from '../../../shared/base/values.ts';
import type { InvitationState } from '../../../shared/identity/invitations/states.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { type EmergencyGrant, emergencyOf, emergencyPolicyOf } from '../emergency/emergency.ts';
import { nameOf } from '../records/record-text.ts';
import { useSession } from '../session/session-context.tsx';
import { Badge, Button, Details, Failure, Link, Loading, Moment, Notice } from '../ui/basics.tsx';
import { ConfirmedButton } from '../ui/confirm.tsx';
import { Page } from '../ui/page.tsx';
import { type Invitation, invitationOf, profileType, standingOf } from './invitation.ts';
import { type Member, RightsForm } from './rights-form.tsx';

/** One member: how they stand, what they may do, and how they leave. */
export function MemberPage({ id }: { id: string }) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal): Promise<Member> => {
      const membership = await api.get<ProjectMembership>(
        `${api.admin}/members/${encodeURIComponent(id)}`,
        signal,
      );
      const read = <R extends Resource>(reference: string | undefined) =>
        reference ? api.get<R>(`fhir/R4/${reference}`, signal).catch(() => undefined) : undefined;
      const [profile, policy, emergencyPolicy, inviter] = await Promise.all([
        read<Resource>(membership.profile?.reference),
        read<AccessPolicy>(membership.accessPolicy?.reference),
        read<AccessPolicy>(emergencyPolicyOf(membership)),
        read<Resource>(membership.invitedBy?.reference),
      ]);
      return {
        ...{ membership, policy, emergencyPolicy },
        ...{ email: emailOf(profile), inviter: inviter && nameOf(inviter) },
      };
    },
    [api, id],
  );
  const loaded = useLoad(load);
  const membership = loaded.value?.membership;
  return (
    <Page
      title={membership ? (membership.profile?.display ?? 'Member') : 'Member'}
      actions={
        <Link className="button button-plain" href={`/members/${id}/view`}>
          View as this person
        </Link>
      }
    >
      <Loading of={loaded}>{(member) => <MemberCards member={member} onChange={loaded.reload} />}</Loading>
      <p>
        <Link href="/members">All members</Link>
      </p>
    </Page>
  );
}

function MemberCards({ member, onChange }: { member: Member; onChange(): void }) {
  const { membership, email, inviter } = member;
  const { label, kind } = standingOf(membership);
  const grant = emergencyOf(membership);
  const isPerson = invitationOf(membership) !== undefined;
  return (
    <>
      <section className="card" aria-label="Standing">
        <Details
          items={[
            [
              'State',
              <Badge key="state" kind={kind}>
                {label}
              </Badge>,
            ],
            ['Kind', profileType(membership.profile?.reference)],
            ...(email ? [['E-mail', email] as const] : []),
            ['Invited by', inviter ?? 'set up with the project'],
          ]}
        />
      </section>
      {grant && <EmergencyCard membership={membership} grant={grant} onChange={onChange} />}
      {isPerson && <InvitationCard membership={membership} onChange={onChange} />}
      {isPerson && <RightsForm member={member} onChange={onChange} />}
      {isPerson && <RemoveMember membership={membership} />}
    </>
  );
}

function emailOf(profile: Resource | undefined): string | undefined {
  const { telecom } = fieldsOf(profile);
  const all = Array.isArray(telecom) ? telecom.map(fieldsOf) : [];
  const email = all.find(({ system }) => system === 'email')?.value;
  return typeof email === 'string' ? email : undefined;
}

/** Takes a member out of the Project, after saying what that means. */
function RemoveMember({ membership }: { membership: ProjectMembership }) {
  const { admin, send } = useApi();
  const { me } = useSession();
  const [, navigate] = useLocation();
  const name = membership.profile?.display ?? 'this member';
  return (
    <section className="card" aria-labelledby="remove">
      <h2 id="remove">Leave the project</h2>
      <p>Ends the membership of {name}. Their records stay.</p>
      <div>
        <ConfirmedButton
          label="Remove from the project"
          title={`Remove ${name}?`}
          deed={`Remove ${name}`}
          act={async () => {
            await send('DELETE', `${admin}/members/${membership.id}`);
            navigate('/members');
          }}
        >
          <ul>
            <li>
              They are signed out of {me.project.name ?? 'this project'} and refused from their next request
              on.
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
      </div>
    </section>
  );
}

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
function InvitationCard({ membership, onChange }: { membership: ProjectMembership; onChange(): void }) {
  const { admin, send } = useApi();
  const [done, setDone] = useState<string>();
  const path = `${admin}/members/${membership.id}/invitation`;
  const change = (method: string, said: string) => async () => {
    await send(method, path);
    setDone(said);
    onChange();
  };
  const resend = useAction(
    change('POST', 'An e-mail with a new link is on its way. Earlier links no longer work.'),
  );
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
          <ConfirmedButton
            label="Revoke"
            title="Revoke the invitation?"
            deed="Revoke the invitation"
            act={change('DELETE', 'The invitation is revoked. Its link no longer works.')}
          >
            <p>The link in the e-mail stops working at once. You can invite the person again at any time.</p>
          </ConfirmedButton>
        )}
      </div>
    </section>
  );
}

interface Props {
  membership: ProjectMembership;
  grant: EmergencyGrant;
  onChange(): void;
}

/** The emergency access that a member has, for administrators, who may end it. */
function EmergencyCard({ membership, grant, onChange }: Props) {
  const { admin, send } = useApi();
  const end = useAction(async () => {
    await send('DELETE', `${admin}/members/${membership.id}/emergency`);
    onChange();
  });
  return (
    <section className="card" aria-labelledby="emergency">
      <h2 id="emergency">They have emergency access</h2>
      <Details
        items={[
          ['Since', <Moment key="since" at={grant.since} />],
          ['Until', <Moment key="until" at={grant.until} />],
          ['Their reason', grant.reason],
        ]}
      />
      <Failure message={end.message} />
      <div>
        <Button kind="danger" isPending={end.isBusy} onPress={() => void end.run()}>
          End it now
        </Button>
      </div>
    </section>
  );
}
