import type { ProjectMembership } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import { Badge } from '../ui/badge.tsx';
import { Link } from '../ui/link.tsx';
import { Empty } from '../ui/loading.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { invitationOf, standingOf } from './invitation.ts';
import { profileType } from './profile-type.ts';

export function MemberList({ state, type }: { state: string; type: string }) {
  const { admin } = useApi();
  const query = new URLSearchParams({ _count: '20' });
  if (state) query.set('state', state);
  if (type) query.set('profile-type', type);
  const pages = usePages<ProjectMembership>(`${admin}/members?${query}`);
  const row = useCallback((membership: ProjectMembership) => <MemberRow membership={membership} />, []);
  return (
    <PagedList
      pages={pages}
      label="Members"
      row={row}
      empty={
        <Empty title="Nobody here">
          {state || type ? (
            <p>Choose another state or kind to see the others.</p>
          ) : (
            <p>Invite the first one.</p>
          )}
        </Empty>
      }
    />
  );
}

function MemberRow({ membership }: { membership: ProjectMembership }) {
  const { label, kind } = standingOf(membership);
  const isProgram =
    invitationOf(membership) === undefined && membership.user?.reference === membership.profile?.reference;
  return (
    <>
      <div className="row-main">
        <Link className="link row-title" href={`/members/${membership.id}`}>
          {membership.profile?.display ?? membership.user?.display ?? 'No name'}
        </Link>
        <span className="row-more">{profileType(membership.profile?.reference)}</span>
      </div>
      <div className="row-side">
        {membership.admin && <Badge>Administrator</Badge>}
        {!isProgram && <Badge kind={kind}>{label}</Badge>}
      </div>
    </>
  );
}
