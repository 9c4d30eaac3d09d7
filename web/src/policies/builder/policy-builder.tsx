import { useRef } from 'react';
import { Button, Notice, Sentences } from '../../ui/basics.tsx';
import { type Entry, entriesIn } from './entry.ts';
import { EntryFields, type Knowledge, useKnowledge } from './entry-fields.tsx';

interface Props {
  /** The entries as JSON, as they stand in the editor beside. */
  text: string;
  onChange(text: string): void;
}

/**
 * The entries of a policy as sentences that open into fields, and what is probably not meant. It writes the JSON
 * and is drawn from it: both are always the same.
 */
export function PolicyBuilder({ text, onChange }: Props) {
  const knowledge = useKnowledge();
  const added = useRef<number>(undefined);
  const entries = entriesIn(text);
  const { keys, remove } = useEntryKeys(entries?.length ?? 0);
  if (!entries)
    return <Notice kind="plain">The builder is back as soon as the JSON is a list of entries again.</Notice>;
  const write = (next: readonly Entry[]) => onChange(JSON.stringify(next, undefined, 2));
  const policy = { resource: entries };
  const words = knowledge?.policyWords(policy, { isAdministrator: false });
  const warnings = knowledge?.policyWarnings(policy, hasElementOf(knowledge)) ?? [];
  return (
    <section className="stack" aria-label="Builder">
      <ol className="policy-entries">
        {entries.map((entry, index) => (
          <EntryFields
            key={keys[index]}
            number={index + 1}
            entry={entry}
            sentence={words?.[index]?.text ?? entry.resourceType}
            isNew={added.current === index}
            knowledge={knowledge}
            onChange={(next) => write(entries.with(index, next))}
            onRemove={() => {
              added.current = undefined;
              remove(index);
              write(entries.toSpliced(index, 1));
            }}
          />
        ))}
      </ol>
      <p className="muted">{entries.length === 0 ? 'It grants nothing.' : 'Nothing else.'}</p>
      <div>
        <Button
          onPress={() => {
            added.current = entries.length;
            write([...entries, { resourceType: 'Patient', readonly: true }]);
          }}
        >
          Add an entry
        </Button>
      </div>
      <div role="status" className="policy-warnings">
        {warnings.length > 0 && (
          <div className="notice">
            <p className="legend">Is this meant?</p>
            <Sentences of={warnings} />
          </div>
        )}
      </div>
    </section>
  );
}

function hasElementOf({ structures, hasElementIn }: Knowledge) {
  return structures && ((type: string, path: string) => hasElementIn(structures, type, path));
}

/**
 * A key for each of some entries that have no name, which stays with its entry when one above it is removed: what is
 * open or half typed in it does not pass to the next. Where the list was changed otherwise, an entry is its place.
 * @param count of entries as they are drawn now
 */
function useEntryKeys(count: number): { keys: readonly number[]; remove(index: number): void } {
  const state = useRef({ keys: [] as number[], next: 0 });
  const { current } = state;
  while (current.keys.length < count) current.keys.push(current.next++);
  current.keys.length = count;
  return {
    keys: current.keys,
    remove: (index) => {
      current.keys = current.keys.toSpliced(index, 1);
    },
  };
}
