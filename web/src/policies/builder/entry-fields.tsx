import { useId } from 'react';
import { Button } from '../../ui/button.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';
import { ClosedElements } from './closed-elements.tsx';
import { Conditions } from './conditions.tsx';
import { type Entry, withType } from './entry.ts';
import { Interactions } from './interactions.tsx';
import type { Knowledge } from './use-knowledge.ts';

interface Props {
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
export function EntryFields({ number, entry, sentence, isNew, knowledge, onChange, onRemove }: Props) {
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
