import { check, maxLength, normalize, pipe, string, trim } from 'valibot';

/** What could end a line of a mail, or hide in one. */
export const controlOrLineEnd = /[\p{C}\p{Zl}\p{Zp}]/u;

/** A person's first or last name, as it is stored. @param label of the field, for the texts */
export function personName(label: string) {
  const required = `${label} is required`;
  return pipe(
    string(required),
    check((text) => text.trim() !== '', required),
    check((text) => !controlOrLineEnd.test(text), `${label} must not contain control characters`),
    trim(),
    normalize('NFC'),
    maxLength(200, `${label} is longer than 200 characters`),
  );
}
