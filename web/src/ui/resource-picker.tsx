import { useEffect, useState } from 'react';
import {
  Button,
  ComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components';

export interface Picked {
  /** `AccessPolicy/<id>` */
  reference: string;
  display: string;
}

interface Props {
  label: string;
  name: string;
  help?: string;
  isRequired?: boolean;
  value: Picked | undefined;
  onChange(picked: Picked | undefined): void;
  /** Those whose name fits the text; all of them for an empty text, up to ten. Keep it in useCallback. */
  find(text: string, signal: AbortSignal): Promise<Picked[]>;
}

const typingMs = 200;

/** Picks a resource by typing its name. */
export function ResourcePicker({ label, name, help, isRequired = false, value, onChange, find }: Props) {
  const [text, setText] = useState(value?.display ?? '');
  const [found, setFound] = useState<{ items: Picked[]; note: string }>({ items: [], note: 'Looking…' });
  const wanted = text === value?.display ? '' : text;
  useEffect(() => {
    const gone = new AbortController();
    const timer = setTimeout(() => {
      find(wanted, gone.signal).then(
        (items) => setFound({ items, note: 'Nothing with this name' }),
        () => !gone.signal.aborted && setFound({ items: [], note: 'The list could not be loaded' }),
      );
    }, typingMs);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [wanted, find]);
  const isListed = value && found.items.some(({ reference }) => reference === value.reference);
  const items = value && !isListed ? [value, ...found.items] : found.items;
  return (
    <ComboBox
      className="field"
      name={name}
      isRequired={isRequired}
      menuTrigger="focus"
      allowsEmptyCollection
      items={items.map((item) => ({ id: item.reference, ...item }))}
      inputValue={text}
      onInputChange={(next) => {
        setText(next);
        if (next === '') onChange(undefined);
      }}
      selectedKey={value?.reference ?? null}
      onSelectionChange={(key) => {
        const picked = items.find(({ reference }) => reference === key);
        if (picked) setText(picked.display);
        onChange(picked);
      }}
    >
      <Label>{label}</Label>
      <div className="input-row">
        <Input className="input" />
        <Button className="button button-plain" aria-label="Show the list">
          <span aria-hidden="true" className="arrow" />
        </Button>
      </div>
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldError className="field-error" />
      <Popover className="popover">
        <ListBox className="list-box" renderEmptyState={() => <div className="list-empty">{found.note}</div>}>
          {({ reference, display }: Picked) => (
            <ListBoxItem id={reference} textValue={display} className="list-item">
              {display}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
