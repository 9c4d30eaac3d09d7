import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';
import { type ClosedFields, closedIn, type Entry, withClosed } from './entry.ts';

interface Props {
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
export function ClosedElements({ fields, entry, elements, onChange }: Props) {
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
