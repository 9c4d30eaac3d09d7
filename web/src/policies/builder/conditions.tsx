import { Button } from '../../ui/button.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';
import { TextField } from '../../ui/text-field.tsx';
import {
  type Condition,
  conditionsOf,
  type Entry,
  shownValue,
  withConditions,
  writtenValue,
} from './entry.ts';

interface Props {
  entry: Entry;
  /** The search parameters of its type. */
  parameters: readonly string[];
  onChange(entry: Entry): void;
}

/** What a record must meet, each a search parameter and its value. */
export function Conditions({ entry, parameters, onChange }: Props) {
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
