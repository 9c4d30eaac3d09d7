import type { Refuse } from './parse-rights.ts';

/** What could end a line of a mail, or hide in one. */
export const controlOrLineEnd = /[\p{C}\p{Zl}\p{Zp}]/u;

/** A person's first or last name, as it is stored. */
export function parseName(value: unknown, field: string, label: string, refuse: Refuse): string {
  const text = typeof value === 'string' ? value : '';
  const name = text.trim().normalize('NFC');
  if (name === '') refuse(field, `${label} is required`);
  else if (controlOrLineEnd.test(text)) refuse(field, `${label} must not contain control characters`);
  else if (name.length > 200) refuse(field, `${label} is longer than 200 characters`);
  return name;
}
