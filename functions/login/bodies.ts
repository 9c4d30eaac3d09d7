import { check, fallback, type InferOutput, maxLength, minLength, pipe, string, transform } from 'valibot';
import { normaliseAddress } from '../../shared/email/address.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { anyText, readText } from '../../shared/schema/values.ts';

/** What the steps of a sign-in and a person's own account are sent. What `anyText` cannot be, finds nothing. */

const address = readText('Valid email address is required', normaliseAddress);

/** An id; empty is none. */
export const optionalId = (name: string) => {
  const text = `${name} must be an id`;
  return optional(
    pipe(
      string(text),
      check((id) => id === '' || isId(id), text),
      transform((id) => id || undefined),
    ),
  );
};

/** @param longest in characters */
export const requiredText = (name: string, longest: number) => {
  const text = `${name} is required: text of up to ${longest} characters`;
  return pipe(string(text), minLength(1, text), maxLength(longest, text));
};

/** Text that may be left out; empty is none. @param longest in characters */
export const optionalText = (name: string, longest: number) => {
  const text = `${name} must be text of up to ${longest} characters`;
  return optional(
    pipe(
      string(text),
      maxLength(longest, text),
      transform((given) => given || undefined),
    ),
  );
};

export const methodBody = fields({ email: address });

/** A login that waits, and the membership that it is for; where it was asked for one, whose record. */
export const profileBody = fields({
  login: anyText,
  profile: anyText,
  patient: optional(anyText),
});

/** The six digits that a phone shows, or a recovery code. */
export const codeBody = fields({ token: anyText });
export const codeOfLoginBody = fields({ login: anyText, token: anyText });

export const resetPasswordBody = fields({ email: address, projectId: optionalId('projectId') });
export const changePasswordBody = fields({ oldPassword: anyText, newPassword: anyText });

/** One text for every link that leads nowhere. */
export const deadLinkText = 'This link is not valid any more';

/** From the fragment of a mailed link. */
export const linkEntries = { id: anyText, secret: anyText };
export const linkBody = fields({ ...linkEntries }, deadLinkText);
export const setPasswordBody = fields({ ...linkEntries, password: anyText }, deadLinkText);
export type PasswordOfLink = InferOutput<typeof setPasswordBody>;
export const verifyEmailBody = fields(
  { ...linkEntries, password: fallback(optional(string()), undefined) },
  deadLinkText,
);

export const revokeLoginBody = fields({
  loginId: readText('loginId must be an id', (id) => (isId(id) ? id : undefined)),
});
