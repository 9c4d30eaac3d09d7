import {
  TextField as AriaTextField,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  type TextFieldProps,
} from 'react-aria-components';

interface Props extends Omit<TextFieldProps, 'className' | 'children'> {
  label: string;
  help?: string;
  /** Lines of a larger field. */
  rows?: number;
  isCode?: boolean;
}

export function TextField({ label, help, rows, isCode = false, ...props }: Props) {
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
