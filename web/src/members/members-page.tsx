import { useState } from 'react';
import { Link } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { MemberList } from './member-list.tsx';

const states = [
  { value: '', label: 'Everybody' },
  { value: 'pending', label: 'Invited' },
  { value: 'accepted', label: 'Joined' },
  { value: 'expired', label: 'Invitation expired' },
  { value: 'revoked', label: 'Invitation revoked' },
];

const types = [
  { value: '', label: 'All' },
  { value: 'Practitioner', label: 'Practitioners' },
  { value: 'Patient', label: 'Patients' },
  { value: 'RelatedPerson', label: 'Related persons' },
  { value: 'Bot', label: 'Bots' },
  { value: 'ClientApplication', label: 'API keys' },
];

export function MembersPage() {
  const [state, setState] = useState('');
  const [type, setType] = useState('');
  return (
    <Page
      title="Members"
      actions={
        <Link className="button button-primary" href="/invite">
          Invite somebody
        </Link>
      }
    >
      <div className="filters">
        <Select label="State" value={state} options={states} onChange={setState} />
        <Select label="Kind" value={type} options={types} onChange={setType} />
      </div>
      <MemberList key={`${state} ${type}`} state={state} type={type} />
    </Page>
  );
}
