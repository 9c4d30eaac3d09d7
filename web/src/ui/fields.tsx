import { type ReactElement, type ReactNode, useEffect, useEffectEvent, useState } from 'react';
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
import { typedEntries } from '../../../shared/base/values.ts';

interface Described {
  label: string;
  /** What helps to fill it. */
  children?: ReactNode;
}

interface InsideProps {
  label: string;
  help: ReactNode;
  /** In place of what the form around says of the field. */
  error?: string | undefined;
  children: ReactNode;
}

/** The inside of a field: its name, the control, what helps to fill it, and what is wrong with it. */
function Inside({ label, help, error, children }: InsideProps) {
  return (
    <>
      <Label>{label}</Label>
      {children}
      {help && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldError className="field-error">
        {({ validationErrors }) => error ?? validationErrors.join(' ')}
      </FieldError>
    </>
  );
}

/** A browser completes it only when `autoComplete` says how. */
export interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'children'>, Described {
  rows?: number;
  isCode?: boolean;
  /** In place of the one input. */
  input?: ReactNode;
}

export function TextField({ label, children, rows, isCode = false, input, ...props }: TextFieldProps) {
  const className = isCode ? 'input code' : 'input';
  const plain = rows ? <TextArea className={className} rows={rows} /> : <Input className={className} />;
  return (
    <AriaTextField
      autoComplete="off"
      {...(isCode ? { spellCheck: 'false' } : {})}
      {...props}
      className="field"
    >
      <Inside label={label} help={children}>
        {input ?? plain}
      </Inside>
    </AriaTextField>
  );
}

const ofNew = {
  autoComplete: 'new-password',
  minLength: 8,
  children: 'At least 8 characters. A few words make a good one.',
};

/** A password that can be shown: nobody has to type it twice. */
export function PasswordField({ isNew = false, ...props }: TextFieldProps & { isNew?: boolean }) {
  const [isShown, setShown] = useState(false);
  const input = (
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
  );
  const type = isShown ? 'text' : 'password';
  return (
    <TextField
      autoComplete="current-password"
      {...(isNew ? ofNew : {})}
      {...props}
      type={type}
      input={input}
    />
  );
}

const typingMs = 250;

/** A text once nobody has changed it for a moment: while somebody types nothing is asked for. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** A text that is searched once the typing pauses. */
export function SearchField({
  label,
  value,
  onChange,
}: Pick<SuggestFieldProps, 'label' | 'value' | 'onChange'>) {
  const [typed, setTyped] = useState(value);
  const settled = useSettled(typed.trim());
  const change = useEffectEvent(onChange);
  useEffect(() => {
    if (settled !== value) change(settled);
  }, [settled, value]);
  return <TextField label={label} type="search" value={typed} onChange={setTyped} maxLength={200} />;
}

interface SelectProps<Value extends string> extends Described {
  name?: string;
  value: Value;
  /** The words for each. */
  options: Readonly<Record<NoInfer<Value>, string>>;
  onChange(value: Value): void;
}

/** One of a few. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, name, value, options, onChange, children } = props;
  return (
    <AriaSelect
      className="field"
      {...(name ? { name } : {})}
      selectedKey={value}
      onSelectionChange={(key) => onChange(key as Value)}
    >
      <Inside label={label} help={children}>
        <Button className="input select-button">
          <SelectValue />
          <span aria-hidden="true" className="arrow" />
        </Button>
      </Inside>
      <Popover className="popover">
        <ListBox className="list-box" items={typedEntries(options).map(([id, text]) => ({ id, text }))}>
          {({ text }) => <ListBoxItem className="list-item">{text}</ListBoxItem>}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface SuggestingProps<Item extends { id: string }> extends Omit<InsideProps, 'children'> {
  note?: string;
  children(item: Item): ReactElement;
}

/** The inside of a combo box: a text, and the list of what is offered. */
export function Suggesting<Item extends { id: string }>(props: SuggestingProps<Item>) {
  const { note, children, ...described } = props;
  const empty =
    note === undefined ? {} : { renderEmptyState: () => <div className="list-empty">{note}</div> };
  return (
    <>
      <Inside {...described}>
        <div className="input-row">
          <Input className="input" />
          <Button className="button button-plain" aria-label="Show the list">
            <span aria-hidden="true" className="arrow" />
          </Button>
        </div>
      </Inside>
      <Popover className="popover">
        <ListBox className="list-box" {...empty}>
          {children}
        </ListBox>
      </Popover>
    </>
  );
}

interface SuggestFieldProps extends Described {
  value: string;
  options: readonly string[];
  onChange(value: string): void;
  onChosen?(value: string): void;
}

/** A text with suggestions. */
export function SuggestField(props: SuggestFieldProps) {
  const { label, value, options, onChange, onChosen, children } = props;
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
      <Suggesting label={label} help={children}>
        {({ id }: { id: string }) => (
          <ListBoxItem id={id} textValue={id} className="list-item">
            {id}
          </ListBoxItem>
        )}
      </Suggesting>
    </ComboBox>
  );
}

export function Switch({ label, children, ...props }: Omit<SwitchFieldProps, 'children'> & Described) {
  return (
    <SwitchField {...props} className="switch-field">
      <SwitchButton className="switch">
        <span className="switch-track" aria-hidden="true">
          <span className="switch-thumb" />
        </span>
        <span>{label}</span>
      </SwitchButton>
      {children && (
        <Text slot="description" elementType="p" className="help">
          {children}
        </Text>
      )}
    </SwitchField>
  );
}
