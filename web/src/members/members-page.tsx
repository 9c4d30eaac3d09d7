import type { ProfileType } from '../../../shared/fhir/resource.ts';
import type { InvitationState } from '../../../shared/invitation/states.ts';
import { useAddressState } from '../api/use-address-state.ts';
import { Link } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { MemberList } from './member-list.tsx';

const stateLabels: Record<InvitationState, string> = {
  pending: 'Invited',
  accepted: 'Joined',
  expired: 'Invitation expired',
  revoked: 'Invitation revoked',
};

const typeLabels: Record<ProfileType | 'Bot' | 'ClientApplication', string> = {
  Practitioner: 'Practitioners',
  Patient: 'Patients',
  RelatedPerson: 'Related persons',
  Bot: 'Bots',
  ClientApplication: 'API keys',
};

const optionsOf = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));
const valuesOf = (options: readonly { value: string }[]) => options.map(({ value }) => value);
const states = [{ value: '', label: 'Everybody' }, ...optionsOf(stateLabels)];
const types = [{ value: '', label: 'All' }, ...optionsOf(typeLabels)];

export function MembersPage() {
  const [state, setState] = useAddressState('state', valuesOf(states), '');
  const [type, setType] = useAddressState('kind', valuesOf(types), '');
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
