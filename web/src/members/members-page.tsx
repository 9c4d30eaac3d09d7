import type { ProjectMembership } from '@medplum/fhirtypes';
import type { InvitationState } from '../../../shared/identity/invitations/states.ts';
import { useApi } from '../api/use-api.ts';
import { useAddressState, useAddressText, usePages } from '../api/use-pages.ts';
import { Link } from '../ui/basics.tsx';
import { SearchField, Select } from '../ui/fields.tsx';
import { Page } from '../ui/page.tsx';
import { MemberTable } from './member-table.tsx';

const stateLabels: Record<InvitationState, string> = {
  accepted: 'Joined',
  pending: 'Invited',
  expired: 'Invitation expired',
  revoked: 'Invitation revoked',
};

const people = 'Practitioner,Patient,RelatedPerson';
const kinds = [
  { value: people, label: 'People' },
  { value: 'Practitioner', label: 'Practitioners' },
  { value: 'Patient', label: 'Patients' },
  { value: 'RelatedPerson', label: 'Related persons' },
  { value: 'Bot', label: 'Bots' },
  { value: 'ClientApplication', label: 'API keys' },
];
const states = [
  { value: '', label: 'Any' },
  ...Object.entries(stateLabels).map(([value, label]) => ({ value, label })),
];
const roles = [
  { value: '', label: 'Any' },
  { value: 'true', label: 'Administrators' },
];
const orders = ['name', 'address', 'kind', 'policy', 'role', 'state'].flatMap((by) => [by, `-${by}`]);
const valuesOf = (options: readonly { value: string }[]) => options.map(({ value }) => value);

/** Everybody in the Project: searched, sorted and chosen from; all of it stands in the address. */
export function MembersPage() {
  const [kind, setKind] = useAddressState('kind', valuesOf(kinds), people);
  const [state, setState] = useAddressState('state', valuesOf(states), '');
  const [role, setRole] = useAddressState('role', valuesOf(roles), '');
  const [sort, setSort] = useAddressState('sort', orders, 'name');
  const [text, setText] = useAddressText('text');
  const [policy] = useAddressText('policy');
  const query = new URLSearchParams({ 'profile-type': kind, _sort: sort, _count: '50', _total: 'accurate' });
  if (text) query.set('text', text);
  if (state) query.set('state', state);
  if (role) query.set('admin', role);
  if (policy) query.set('access-policy', policy);
  const isNarrowed = Boolean(text || state || role || policy);
  return (
    <Page
      title="Members"
      actions={
        <Link className="button button-primary" href="/invite">
          Invite somebody
        </Link>
      }
    >
      <search className="filters">
        <SearchField label="Name or address" value={text} onChange={setText} />
        <Select label="Kind" value={kind} options={kinds} onChange={setKind} />
        <Select label="State" value={state} options={states} onChange={setState} />
        <Select label="Role" value={role} options={roles} onChange={setRole} />
      </search>
      {policy && (
        <p>
          Showing only those who have one access policy. <Link href="/members">Show all</Link>
        </p>
      )}
      <Listed
        key={String(query)}
        query={query}
        sort={sort}
        onSort={setSort}
        empty={isNarrowed ? 'Nobody matches these filters' : 'No members yet'}
      />
    </Page>
  );
}

interface Props {
  query: URLSearchParams;
  sort: string;
  onSort(sort: string): void;
  empty: string;
}

function Listed({ query, ...props }: Props) {
  const { admin } = useApi();
  const pages = usePages<ProjectMembership>(`${admin}/members?${query}`);
  return <MemberTable pages={pages} {...props} />;
}
