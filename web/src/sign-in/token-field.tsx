import { TextField } from '../ui/text-field.tsx';

interface Props {
  value: string;
  onChange(value: string): void;
  /** On a page that asks for nothing else. */
  autoFocus?: boolean;
  /** Where a recovery code is as good. */
  orRecovery?: boolean;
}

/** Six digits of an authenticator app (RFC 6238). */
export function TokenField({ value, onChange, autoFocus = false, orRecovery = false }: Props) {
  return (
    <TextField
      label={orRecovery ? 'Six-digit code, or a recovery code' : 'Six-digit code'}
      name="token"
      inputMode={orRecovery ? 'text' : 'numeric'}
      autoComplete="one-time-code"
      {...(orRecovery ? { maxLength: 40 } : { pattern: '[0-9]{6}', maxLength: 6 })}
      value={value}
      onChange={onChange}
      isRequired
      autoFocus={autoFocus}
    />
  );
}
