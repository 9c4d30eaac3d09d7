import { useState } from 'react';
import { useAddressText } from '../api/use-pages.ts';
import { Button } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { RecordTable } from './record-table.tsx';
import {
  type Condition,
  exampleOf,
  type Registry,
  recordTypes,
  typeOptions,
  useConditions,
  useRegistry,
} from './registry.ts';

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

interface Props {
  type: string;
  registry: Registry;
  conditions: readonly Condition[];
  onChange(conditions: readonly Condition[]): void;
}

const first = ['name', 'code', 'title', 'subject', 'patient', 'identifier', '_id'];

/** Conditions on the records of a type: each is added with its value, and can be taken away again. */
function SearchForm({ type, registry, conditions, onChange }: Props) {
  const parameters = registry.parametersOf(type);
  const [code, setCode] = useState(
    () => first.find((one) => parameters.some((parameter) => parameter.code === one)) ?? '_id',
  );
  const [value, setValue] = useState('');
  const chosen = parameters.find((parameter) => parameter.code === code);
  const add = () => {
    if (!value.trim()) return;
    onChange([...conditions, { code, value: value.trim() }]);
    setValue('');
  };
  return (
    <search className="stack">
      <Form label="Search" onSubmit={add}>
        <div className="search-row">
          <Select
            label="Search by"
            value={code}
            options={parameters.map((one) => ({ value: one.code, label: `${one.code} (${one.type})` }))}
            onChange={setCode}
          />
          <TextField
            label="Value"
            help={exampleOf(chosen?.type)}
            autoComplete="off"
            spellCheck="false"
            value={value}
            onChange={setValue}
          />
          <Button type="submit">Search</Button>
        </div>
      </Form>
      {conditions.length > 0 && (
        <ul className="chips" aria-label="Conditions">
          {conditions.map(({ code: name, value: text }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may be the same, and none is changed in place
            <li key={`${at} ${name} ${text}`}>
              <Button
                aria-label={`Remove the condition ${name} ${text}`}
                onPress={() => onChange(conditions.filter((_, other) => other !== at))}
              >
                {name}: {text} <span aria-hidden="true">×</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}
