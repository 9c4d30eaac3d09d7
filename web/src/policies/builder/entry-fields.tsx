import { useId, useState } from 'react';
import { type Structures, structuresIn } from '../../../../shared/store/fhir/elements.ts';
import { useLoad } from '../../api/use-api.ts';
import { Button } from '../../ui/basics.tsx';
import { SuggestField, TextField } from '../../ui/fields.tsx';
import {
  type ClosedFields,
  type Condition,
  closedIn,
  conditionsOf,
  type EntryInteraction,
  interactionsFor,
  interactionsOf,
  shownValue,
  type WrittenEntry,
  withClosed,
  withConditions,
  withInteractions,
  withType,
  writtenValue,
} from './entry.ts';

interface Changing {
  entry: WrittenEntry;
  onChange(entry: WrittenEntry): void;
}

interface EntryFieldsProps extends Changing {
  number: number;
  sentence: string;
  isNew: boolean;
  knowledge: Knowledge | undefined;
  onRemove(): void;
}

/** An entry as its sentence, which opens into the fields that make it. */
export function EntryFields(props: EntryFieldsProps) {
  const { number, entry, sentence, isNew, knowledge, onChange, onRemove } = props;
  const title = useId();
  const { resourceType } = entry;
  const parameters = knowledge?.parametersOf(resourceType === '*' ? 'Resource' : resourceType).keys() ?? [];
  const { structures } = knowledge ?? {};
  const elements = (structures && knowledge?.elementNames(structures, resourceType)) ?? [];
  return (
    <li>
      <details className="policy-entry" open={isNew || undefined}>
        <summary>
          <span id={title}>{sentence}</span>
        </summary>
        {/* biome-ignore lint/a11y/useSemanticElements: its name is the sentence above */}
        <div className="stack" role="group" aria-labelledby={title}>
          <SuggestField
            label={`Type of record, entry ${number}`}
            value={resourceType}
            options={['*', ...(knowledge?.resourceTypes() ?? [])]}
            onChange={(next) => onChange(withType(entry, next))}
          >
            * is every clinical type.
          </SuggestField>
          <Interactions entry={entry} onChange={onChange} />
          <Conditions entry={entry} parameters={[...parameters]} onChange={onChange} />
          <ClosedElements fields="hiddenFields" entry={entry} elements={elements} onChange={onChange} />
          <ClosedElements fields="readonlyFields" entry={entry} elements={elements} onChange={onChange} />
          <Button onPress={onRemove}>Remove entry {number}</Button>
        </div>
      </details>
    </li>
  );
}

interface ConditionsProps extends Changing {
  parameters: readonly string[];
}

function Conditions({ entry, parameters, onChange }: ConditionsProps) {
  const conditions = conditionsOf(entry);
  if (!conditions)
    return (
      <TextField
        label="Criteria"
        isCode
        value={String(entry.criteria)}
        onChange={(criteria) => onChange({ ...entry, criteria })}
      >
        They must be a search of {entry.resourceType}: {entry.resourceType}?name=value
      </TextField>
    );
  const write = (next: readonly Condition[]) => onChange(withConditions(entry, next));
  return (
    <fieldset className="stack">
      <legend>{conditions.length === 0 ? 'All of them' : 'Only where'}</legend>
      {conditions.map(({ name, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a condition is its place, and holds no state of its own
        <div key={index} className="condition">
          <SuggestField
            label="Parameter"
            value={name}
            options={parameters}
            onChange={(next) => write(conditions.with(index, { name: next, value }))}
          />
          <TextField
            label="Value"
            spellCheck="false"
            value={shownValue(value)}
            onChange={(next) => write(conditions.with(index, { name, value: writtenValue(next) }))}
          />
          <Button
            aria-label={`Remove the condition ${name}`}
            onPress={() => write(conditions.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      {conditions.length > 0 && (
        <p className="help">
          %profile stands for the member’s own profile, %patient for the patient that they are or are related
          to; with .id for the id alone. Several values are separated by commas.
        </p>
      )}
      <Button onPress={() => write([...conditions, { name: '', value: '' }])}>Add a condition</Button>
    </fieldset>
  );
}

interface ClosedElementsProps extends Changing {
  fields: ClosedFields;
  elements: readonly string[];
}

const words: Record<ClosedFields, { legend: string; field: string }> = {
  hiddenFields: { legend: 'Without these elements', field: 'Element to hide' },
  readonlyFields: { legend: 'Seen, but not changed', field: 'Element to protect' },
};

function ClosedElements({ fields, entry, elements, onChange }: ClosedElementsProps) {
  const [typed, setTyped] = useState('');
  const closed = closedIn(entry, fields);
  const { legend, field } = words[fields];
  if (!closed) return <p className="help">{fields} cannot be shown here: see the JSON.</p>;
  const add = (path: string) => {
    setTyped('');
    if (path !== '' && !closed.includes(path)) write([...closed, path]);
  };
  const write = (paths: readonly string[]) => onChange(withClosed(entry, fields, paths));
  return (
    <fieldset className="stack">
      <legend>{legend}</legend>
      {closed.length > 0 && (
        <ul className="tags">
          {closed.map((path) => (
            <li key={path}>
              <code>{path}</code>
              <Button
                kind="quiet"
                aria-label={`Remove ${path}`}
                onPress={() => write(closed.filter((one) => one !== path))}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="condition">
        <SuggestField label={field} value={typed} options={elements} onChange={setTyped} onChosen={add} />
        <Button onPress={() => add(typed.trim())}>Add</Button>
      </div>
    </fieldset>
  );
}

const labels: Record<EntryInteraction, string> = {
  read: 'Open',
  vread: 'Open earlier versions',
  search: 'Search',
  history: 'List earlier versions',
  create: 'Create',
  update: 'Change',
  delete: 'Delete',
  execute: 'Run',
};

function Interactions({ entry, onChange }: Changing) {
  const chosen = interactionsOf(entry);
  if (!chosen) return <p className="help">What it allows cannot be shown here: see the JSON.</p>;
  return (
    <fieldset className="boxes">
      <legend>May</legend>
      {interactionsFor(entry.resourceType).map((one) => (
        <label key={one}>
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ target }) => {
              const others = chosen.filter((other) => other !== one);
              onChange(withInteractions(entry, target.checked ? [...others, one] : others));
            }}
          />
          {labels[one]}
        </label>
      ))}
    </fieldset>
  );
}

type Module = typeof import('./knowledge.ts');

/** What is known of policies, as the service knows it. */
export interface Knowledge extends Module {
  /** The definitions of R4, once they are there: they are larger than the rest. */
  structures?: Structures;
}

let definitions: Structures | undefined;

/** Loaded when the first policy is opened; undefined until then. */
export function useKnowledge(): Knowledge | undefined {
  const { value: knowledge } = useLoad('knowledge', () => import('./knowledge.ts'));
  const { value: structures } = useLoad('definitions', unpacked, definitions);
  return knowledge && { ...knowledge, ...(structures ? { structures } : {}) };
}

async function unpacked(): Promise<Structures> {
  if (definitions) return definitions;
  const module = await import('../../../../shared/store/fhir/definitions.ts');
  const bytes = Uint8Array.from(atob(module.definitions), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  definitions = structuresIn(await new Response(stream).text());
  return definitions;
}
