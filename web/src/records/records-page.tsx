import { useAddressText } from '../api/use-address-state.ts';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { useConditions } from './conditions.ts';
import { RecordTable } from './record-table.tsx';
import { recordTypes, typeOptions } from './record-types.ts';
import { type Registry, useRegistry } from './registry.ts';
import { SearchForm } from './search-form.tsx';

/** The records that the person who is signed in may see, type by type: what their policy allows and no more. */
export function RecordsPage() {
  const registry = useRegistry();
  const options = registry ? typeOptions(registry.types) : recordTypes;
  const [chosen, setType] = useAddressText('type');
  // Any other is not known before the registry is.
  const isKnown = options.some(({ value }) => value === chosen);
  const type = isKnown ? chosen : 'Patient';
  return (
    <Page title="Records">
      <div className="filters">
        <Select label="Type" value={type} options={options} onChange={setType} />
      </div>
      {(isKnown || chosen === '' || registry) && <Records key={type} type={type} registry={registry} />}
    </Page>
  );
}

function Records({ type, registry }: { type: string; registry: Registry | undefined }) {
  const [conditions, setConditions] = useConditions(type);
  return (
    <>
      {registry && (
        <SearchForm type={type} registry={registry} conditions={conditions} onChange={setConditions} />
      )}
      <RecordTable key={JSON.stringify(conditions)} type={type} conditions={conditions} />
    </>
  );
}
