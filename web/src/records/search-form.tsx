import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type Condition, exampleOf } from './conditions.ts';
import type { Registry } from './registry.ts';

interface Props {
  type: string;
  registry: Registry;
  conditions: readonly Condition[];
  onChange(conditions: readonly Condition[]): void;
}

const first = ['name', 'code', 'title', 'subject', 'patient', 'identifier', '_id'];

/** Conditions on the records of a type: each is added with its value, and can be taken away again. */
export function SearchForm({ type, registry, conditions, onChange }: Props) {
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
