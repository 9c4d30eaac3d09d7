import { useAddressState } from '../api/use-address-state.ts';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { RecordList } from './record-list.tsx';
import { recordTypes } from './record-types.ts';

/** The records that the person who is signed in may see, type by type: what their policy allows and no more. */
export function RecordsPage() {
  const types = recordTypes.map(({ value }) => value);
  const [type, setType] = useAddressState('type', types, 'Patient');
  return (
    <Page title="Records">
      <div className="filters">
        <Select label="Type" value={type} options={recordTypes} onChange={setType} />
      </div>
      <RecordList key={type} type={type} />
    </Page>
  );
}
