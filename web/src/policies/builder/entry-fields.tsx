import { useId, useState } from 'react';
import { Button } from '../../ui/basics.tsx';
import { SuggestField, TextField } from '../../ui/fields.tsx';
import {
  type ClosedFields,
  type Condition,
  closedIn,
  conditionsOf,
  type Entry,
  type EntryInteraction,
  interactionsFor,
  interactionsOf,
  shownValue,
  withClosed,
  withConditions,
  withInteractions,
  withType,
  writtenValue,
} from './entry.ts';
import type { Knowledge } from './use-knowledge.ts';

interface EntryFieldsProps {
  /** Counted from 1. */
  number: number;
  entry: Entry;
  /** What it says, in plain words. */
  sentence: string;
  isNew: boolean;
  knowledge: Knowledge | undefined;
  onChange(entry: Entry): void;
  onRemove(): void;
}

/** An entry as its sentence, which opens into the fields that make it. */
export function EntryFields({
  number,
  entry,
  sentence,
  isNew,
  knowledge,
  onChange,
  onRemove,
}: EntryFieldsProps) {
  const title = useId();
  const { resourceType } = entry;
  const types = ['*', ...(knowledge?.resourceTypes() ?? [])];
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
            help="* is every clinical type."
            value={resourceType}
            options={types}
            onChange={(next) => onChange(withType(entry, next))}
          />
          <Interactions entry={entry} onChange={onChange} />
          <Conditions entry={entry} parameters={parametersOf(knowledge, resourceType)} onChange={onChange} />
          <ClosedElements
            fields="hiddenFields"
            entry={entry}
            elements={elementsOf(knowledge, resourceType)}
            onChange={onChange}
          />
          <ClosedElements
            fields="readonlyFields"
            entry={entry}
            elements={elementsOf(knowledge, resourceType)}
            onChange={onChange}
          />
          <div>
            <Button onPress={onRemove}>Remove entry {number}</Button>
          </div>
        </div>
      </details>
    </li>
  );
}

function parametersOf(knowledge: Knowledge | undefined, type: string): string[] {
  return [...(knowledge?.parametersOf(type === '*' ? 'Resource' : type).keys() ?? [])];
}

function elementsOf(knowledge: Knowledge | undefined, type: string): string[] {
  return knowledge?.structures ? knowledge.elementNames(knowledge.structures, type) : [];
}

interface ConditionsProps {
  entry: Entry;
  /** The search parameters of its type. */
  parameters: readonly string[];
  onChange(entry: Entry): void;
}

/** What a record must meet, each a search parameter and its value. */
function Conditions({ entry, parameters, onChange }: ConditionsProps) {
  const conditions = conditionsOf(entry);
  if (!conditions)
    return (
      <TextField
        label="Criteria"
        isCode
        help={`They must be a search of ${entry.resourceType}: ${entry.resourceType}?name=value`}
        value={String(entry.criteria)}
        onChange={(criteria) => onChange({ ...entry, criteria })}
      />
    );
  const write = (index: number, part: Partial<Condition>) =>
    onChange(
      withConditions(
        entry,
        conditions.map((one, i) => (i === index ? { ...one, ...part } : one)),
      ),
    );
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
            onChange={(next) => write(index, { name: next })}
          />
          <TextField
            label="Value"
            spellCheck="false"
            value={shownValue(value)}
            onChange={(next) => write(index, { value: writtenValue(next) })}
          />
          <Button
            aria-label={`Remove the condition ${name}`}
            onPress={() => onChange(withConditions(entry, conditions.toSpliced(index, 1)))}
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
      <div>
        <Button onPress={() => onChange(withConditions(entry, [...conditions, { name: '', value: '' }]))}>
          Add a condition
        </Button>
      </div>
    </fieldset>
  );
}

interface ClosedElementsProps {
  fields: ClosedFields;
  entry: Entry;
  /** Names of the elements of its type. */
  elements: readonly string[];
  onChange(entry: Entry): void;
}

const words: Record<ClosedFields, { legend: string; field: string }> = {
  hiddenFields: { legend: 'Without these elements', field: 'Element to hide' },
  readonlyFields: { legend: 'Seen, but not changed', field: 'Element to protect' },
};

/** Elements that an entry hides or protects. */
function ClosedElements({ fields, entry, elements, onChange }: ClosedElementsProps) {
  const [typed, setTyped] = useState('');
  const closed = closedIn(entry, fields);
  const { legend, field } = words[fields];
  if (!closed) return <p className="help">{fields} cannot be shown here: see the JSON.</p>;
  const add = (path: string) => {
    setTyped('');
    if (path !== '' && !closed.includes(path)) onChange(withClosed(entry, fields, [...closed, path]));
  };
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
                onPress={() =>
                  onChange(
                    withClosed(
                      entry,
                      fields,
                      closed.filter((one) => one !== path),
                    ),
                  )
                }
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

interface InteractionsProps {
  entry: Entry;
  onChange(entry: Entry): void;
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

/** What an entry lets somebody do. */
function Interactions({ entry, onChange }: InteractionsProps) {
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
            onChange={({ target }) =>
              onChange(
                withInteractions(
                  entry,
                  target.checked ? [...chosen, one] : chosen.filter((other) => other !== one),
                ),
              )
            }
          />
          {labels[one]}
        </label>
      ))}
    </fieldset>
  );
}
