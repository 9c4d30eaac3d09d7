import { check, fallback, type InferOutput, maxLength, picklist, pipe, string, transform } from 'valibot';
import { isId } from '../../base/resource.ts';
import { anyText, fields, optionalField, optionalText, readText } from '../../base/schema.ts';
import { normaliseAddress } from '../mail/address.ts';

/** What the steps of a sign-in are sent. What `anyText` cannot be, finds nothing. */

const address = readText('Valid email address is required', normaliseAddress);

/** An id; empty is none. */
export const optionalId = (name: string) => {
  const text = `${name} must be an id`;
  return optionalField(
    pipe(
      string(text),
      check((id) => id === '' || isId(id), text),
      transform((id) => id || undefined),
    ),
  );
};

const clientIdText = 'clientId must be an id';

/** Of every body by which a client has a person sign in: who it is, empty for the own app, and how it asks (RFC 7636). */
export const clientEntries = {
  clientId: optionalField(
    pipe(
      string(clientIdText),
      check((id) => id === '' || isId(id), clientIdText),
    ),
  ),
  codeChallengeMethod: optionalField(
    picklist(['S256', 'plain'], 'codeChallengeMethod must be S256 or plain'),
  ),
};

export const methodBody = fields({ email: address });

/** A login that waits, and the membership that it is for; where it was asked for one, whose record. */
export const profileBody = fields({
  login: anyText,
  profile: anyText,
  patient: optionalField(anyText),
});

/** With the six digits that a phone shows, or a recovery code. */
export const codeOfLoginBody = fields({ login: anyText, token: anyText });

export const resetPasswordBody = fields({ email: address, projectId: optionalId('projectId') });

/** One text for every link that leads nowhere. */
export const deadLinkText = 'This link is not valid any more';

/** From the fragment of a mailed link. */
export const linkEntries = { id: anyText, secret: anyText };
export const linkBody = fields({ ...linkEntries }, deadLinkText);
export const setPasswordBody = fields({ ...linkEntries, password: anyText }, deadLinkText);
export type PasswordOfLink = InferOutput<typeof setPasswordBody>;
export const undoAddressBody = fields({ ...linkEntries, token: optionalText('token', 100) }, deadLinkText);
export const verifyEmailBody = fields(
  { ...linkEntries, password: fallback(optionalField(pipe(string(), maxLength(4000))), undefined) },
  deadLinkText,
);
