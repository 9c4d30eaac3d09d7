import type { AccessPolicy, ProjectMembership, Resource } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { emergencyOf, emergencyPolicyOf } from '../emergency/emergency.ts';
import { EmergencyCard } from '../emergency/emergency-card.tsx';
import { nameOf } from '../records/name-of.ts';
import { Badge } from '../ui/badge.tsx';
import { Details } from '../ui/details.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { invitationOf, standingOf } from './invitation.ts';
import { InvitationCard } from './invitation-card.tsx';
import type { Member } from './member.ts';
import { profileType } from './profile-type.ts';
import { RemoveMember } from './remove-member.tsx';
import { RightsForm } from './rights-form.tsx';

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
