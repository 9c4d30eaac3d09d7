import {
  type Entry,
  type EntryInteraction,
  interactionsFor,
  interactionsOf,
  withInteractions,
} from './entry.ts';

interface Props {
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
export function Interactions({ entry, onChange }: Props) {
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
