import { useState } from 'react';
import {
  FieldError,
  Input,
  Label,
  Text,
  TextField,
  type TextFieldProps,
  ToggleButton,
} from 'react-aria-components';

interface Props extends Omit<TextFieldProps, 'className' | 'children' | 'type'> {
  label: string;
  help?: string;
}

/** A password that can be shown: nobody has to type it twice. */
export function PasswordField({ label, help, ...props }: Props) {
  const [isShown, setShown] = useState(false);
  return (
    <TextField {...props} type={isShown ? 'text' : 'password'} className="field">
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
    </TextField>
  );
}
