import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  Select as AriaSelect,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  Button,
  ComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  SwitchButton,
  SwitchField,
  type SwitchFieldProps,
  Text,
  TextArea,
  ToggleButton,
} from 'react-aria-components';

interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'children'> {
  label: string;
  help?: string;
  /** Lines of a larger field. */
  rows?: number;
  isCode?: boolean;
}

export function TextField({ label, help, rows, isCode = false, ...props }: TextFieldProps) {
  const className = isCode ? 'input code' : 'input';
  return (
    <AriaTextField {...props} className="field">
      <Label>{label}</Label>
      {rows ? <TextArea className={className} rows={rows} /> : <Input className={className} />}
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldError className="field-error" />
    </AriaTextField>
  );
}

interface PasswordFieldProps extends Omit<AriaTextFieldProps, 'className' | 'children' | 'type'> {
  label: string;
  help?: string;
}

/** A password that can be shown: nobody has to type it twice. */
export function PasswordField({ label, help, ...props }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  return (
    <AriaTextField {...props} type={isShown ? 'text' : 'password'} className="field">
      <Label>{label}</Label>
      <div className="input-row">
        <Input className="input" spellCheck="false" autoCapitalize="off" />
        <ToggleButton
          className="button button-plain"
          isSelected={isShown}
          onChange={setShown}
          aria-label="Show the password"
        >
          {isShown ? 'Hide' : 'Show'}
        </ToggleButton>
      </div>
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldError className="field-error" />
    </AriaTextField>
  );
}

interface SearchFieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
}

/** How long somebody pauses before what they typed is searched, in ms. */
const pauseMs = 250;

/** A text that is searched once the typing pauses. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => latest.current(typed.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return <TextField label={label} type="search" value={typed} onChange={setTyped} maxLength={200} />;
}

interface SelectProps<Value extends string> {
  label: string;
  name?: string;
  help?: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** One of a few. */
export function Select<Value extends string>({
  label,
  name,
  help,
  value,
  options,
  onChange,
}: SelectProps<Value>) {
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

interface SuggestFieldProps {
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
export function SuggestField({ label, help, value, options, onChange, onChosen }: SuggestFieldProps) {
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

interface SwitchProps extends Omit<SwitchFieldProps, 'className' | 'children'> {
  children: ReactNode;
  help?: string;
}

export function Switch({ children, help, ...props }: SwitchProps) {
  return (
    <SwitchField {...props} className="switch-field">
      <SwitchButton className="switch">
        <span className="switch-track" aria-hidden="true">
          <span className="switch-thumb" />
        </span>
        <span>{children}</span>
      </SwitchButton>
      {help && (
        <Text slot="description" elementType="p" className="help">
          {help}
        </Text>
      )}
    </SwitchField>
  );
}
