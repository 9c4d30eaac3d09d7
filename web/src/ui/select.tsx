import {
  Select as AriaSelect,
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
} from 'react-aria-components';

interface Props<Value extends string> {
  label: string;
  name?: string;
  help?: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** One of a few. */
export function Select<Value extends string>({ label, name, help, value, options, onChange }: Props<Value>) {
  return (
    <AriaSelect
      className="field"
      {...(name ? { name } : {})}
      selectedKey={value}
      onSelectionChange={(key) => onChange(key as Value)}
    >
      <Label>{label}</Label>
      <Button className="input select-button">
        <SelectValue />
        <span aria-hidden="true" className="arrow" />
      </Button>
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldError className="field-error" />
      <Popover className="popover">
        <ListBox className="list-box" items={options.map((option) => ({ id: option.value, ...option }))}>
          {({ label: text }) => <ListBoxItem className="list-item">{text}</ListBoxItem>}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
