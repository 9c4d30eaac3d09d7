import { TextField } from '../ui/text-field.tsx';

interface Props {
  value: string;
  onChange(value: string): void;
  /** On a page that asks for nothing else. */
  autoFocus?: boolean;
}

/** Six digits of an authenticator app (RFC 6238). */
export function TokenField({ value, onChange, autoFocus = false }: Props) {
  return (
    <TextField
      label="Six-digit code"
      name="token"
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern="[0-9]{6}"
      maxLength={6}
      value={value}
      onChange={onChange}
      isRequired
      autoFocus={autoFocus}
    />
  );
}
