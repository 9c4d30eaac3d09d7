import type { Resource } from '@medplum/fhirtypes';
import { useState } from 'react';
import { isKeyOf } from '../../../shared/base/values.ts';
import { useLoad } from '../api/use-api.ts';
import { useAddress, useSearch } from '../api/use-pages.ts';
import { useSession } from '../session/session-state.ts';
import { Button, counted, Moment } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { PagedTable } from '../ui/lists.tsx';
import { Page } from '../ui/page.tsx';
import { columnsOf, elementOf, formatValue, nameOf, recordTypes, typeWords } from './record-text.ts';
import { Value } from './value.tsx';

const firstType = { type: '' };

/** The records that the person who is signed in may see, type by type: what their policy allows and no more. */
export function RecordsPage() {
  const registry = useRegistry();
  const options = { ...recordTypes, ...typeWords(registry?.resourceTypes() ?? []) };
  const { values, change } = useAddress(firstType);
  const chosen = values.type;
  // Any other is not known before the registry is.
  const isKnown = isKeyOf(options, chosen);
  const type = isKnown ? chosen : 'Patient';
  return (
    <Page title="Records">
      <div className="filters">
        <Select label="Type" value={type} options={options} onChange={(next) => change({ type: next })} />
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

function SearchForm({ type, registry, conditions, onChange }: Props) {
  const parameters = [...registry.parametersOf(type).values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  const begin = first.find((one) => parameters.some(({ code }) => code === one)) ?? '_id';
  const add = useForm({ code: begin, value: '' }, async ({ code, value }) => {
    if (!value.trim()) return;
    onChange([...conditions, { code, value: value.trim() }]);
    add.change({ value: '' });
  });
  const chosen = parameters.find(({ code }) => code === add.values.code);
  return (
    <search className="stack">
      <Form label="Search" action={add}>
        <div className="search-row">
          <Select
            label="Search by"
            options={Object.fromEntries(
              parameters.map(({ code, type: kind }) => [code, `${code} (${kind})`]),
            )}
            {...add.field('code')}
          />
          <TextField label="Value" spellCheck="false" {...add.field('value')}>
            {examples[chosen?.type ?? '']}
          </TextField>
          <Button type="submit">Search</Button>
        </div>
      </Form>
      {conditions.length > 0 && (
        <ul className="chips" aria-label="Conditions">
          {conditions.map(({ code, value }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may be the same, and none is changed in place
            <li key={`${at} ${code} ${value}`}>
              <Button
                aria-label={`Remove the condition ${code} ${value}`}
                onPress={() => onChange(conditions.toSpliced(at, 1))}
              >
                {code}: {value} <span aria-hidden="true">×</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

function RecordTable({ type, conditions }: { type: string; conditions: readonly Condition[] }) {
  const query = new URLSearchParams([
    ['_count', '20'],
    ...conditions.map(({ code, value }) => [code, value]),
  ]);
  return (
    <PagedTable
      pages={useSearch<Resource>(`fhir/R4/${type}?${query}`)}
      label={type}
      empty={conditions.length > 0 ? `No ${type} matches this search` : `No ${type} that you may see`}
      countOf={(shown, _total, hasMore) => {
        if (hasMore) return `${shown} shown, there are more`;
        return counted(shown, 'record');
      }}
      name={{
        title: type,
        cell: nameOf,
        hrefOf: ({ id }) => `/records/${type}/${id}`,
        summaryOf,
      }}
      columns={[
        ...columnsOf(type).map(([element, title]) => ({
          title,
          className: 'wide-only cell-address',
          cell: (resource: Resource) => <Value value={elementOf(resource, element)} />,
        })),
        {
          title: 'Changed',
          className: 'wide-only',
          cell: ({ meta }) => <Moment at={meta?.lastUpdated} />,
        },
      ]}
    />
  );
}

function summaryOf(resource: Resource): string {
  return columnsOf(resource.resourceType)
    .map(([element]) => {
      const value = elementOf(resource, element);
      const { display } = (value ?? {}) as { display?: string };
      return display ?? formatValue(value);
    })
    .filter(Boolean)
    .join(' · ');
}

type Registry = typeof import('../../../shared/store/index/registry.ts');

let known: Registry | undefined;

/** Loaded when the first page asks for it; undefined until then: records are listed without being searched. */
function useRegistry(): Registry | undefined {
  const load = async () => {
    known = await import('../../../shared/store/index/registry.ts');
    return known;
  };
  return useLoad('registry', load, known).value;
}

/** One condition of a search: a parameter, with its modifier if it has one, and what is looked for. */
interface Condition {
  code: string;
  value: string;
}

/** What was looked for, by type: in memory only, since names must not stand in addresses. */
function useConditions(type: string): [readonly Condition[], (next: readonly Condition[]) => void] {
  const { memory } = useSession();
  const name = `conditions ${type}`;
  const [conditions, setConditions] = useState((memory.get(name) ?? []) as readonly Condition[]);
  const change = (next: readonly Condition[]) => {
    memory.set(name, next);
    setConditions(next);
  };
  return [conditions, change];
}

const examples: Readonly<Record<string, string>> = {
  token: 'A code, or system|code.',
  string: 'The beginning of a word.',
  reference: 'As Patient/1f0c or an id alone.',
  date: 'As 2026-01-31; with ge, gt, le or lt before it for from, after, until, before.',
  number: 'As 5; with gt or lt before it for more or less.',
  quantity: 'As 5.4, gt5.4 or 5.4|http://unitsofmeasure.org|mg.',
  uri: 'The whole of it.',
  composite: 'Both parts with $ between them, as 8480-6$gt150.',
};
