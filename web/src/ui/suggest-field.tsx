import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from 'react-aria-components';

interface Props {
  label: string;
  help?: string;
  value: string;
  /** What is offered; anything else may be typed too. */
  options: readonly string[];
  onChange(value: string): void;
  /** One of the options was chosen from the list. */
  onChosen?(value: string): void;
}

/** A text with suggestions. */
export function SuggestField({ label, help, value, options, onChange, onChosen }: Props) {
  const wanted = value.toLowerCase();
  const fitting = options.filter((one) => one.toLowerCase().includes(wanted));
  const items = fitting.length === 1 && fitting[0] === value ? options : fitting;
  return (
    <ComboBox
      className="field"
      menuTrigger="input"
      allowsCustomValue
      items={items.map((id) => ({ id }))}
      inputValue={value}
      onInputChange={(next) => next !== value && onChange(next)}
      onSelectionChange={(key) => {
        if (key === null) return;
        if (onChosen) onChosen(String(key));
        else if (key !== value) onChange(String(key));
      }}
    >
      <Label>{label}</Label>
      <div className="input-row">
        <Input className="input" autoComplete="off" spellCheck={false} />
        <Button className="button button-plain" aria-label="Show the list">
          <span aria-hidden="true" className="arrow" />
        </Button>
      </div>
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <Popover className="popover">
        <ListBox className="list-box">
          {({ id }: { id: string }) => (
            <ListBoxItem id={id} textValue={id} className="list-item">
              {id}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
