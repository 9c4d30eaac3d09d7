import { isAscii, isUtf8 } from 'node:buffer';
import { charsetOf } from '../../hl7/charset.ts';
import { codecOf } from '../../hl7/codec.ts';
import { Refusal } from '../../refusal.ts';
import type { MediaType } from './media-type.ts';

const hl7 = 'x-application/hl7-v2+er7';

/** Types that reach us as bytes; of text and JSON API Gateway has already made a UTF-8 string. */
const asBytes = new Set([hl7, 'application/x-www-form-urlencoded', 'application/fhir+json']);

/**
 * The charset of a body, as `utf-8`, `us-ascii` or a set of `codecOf`: what the parameter says, for HL7 else what
 * MSH-18 says, else UTF-8. A name in MSH-18 that we do not know is no matter while all bytes are ASCII.
 * @throws {Refusal} unsupported-media-type for any but utf-8, us-ascii and, for byte types, iso-8859-1
 */
export function charsetFor({ type, charset }: MediaType, bytes: Buffer): string {
  if (charset === undefined) return type === hl7 ? charsetOfMessage(bytes) : 'utf-8';
  switch (charset.toLowerCase()) {
    case 'utf-8':
    case 'utf8':
      return 'utf-8';
    case 'us-ascii':
    case 'ascii':
      return 'us-ascii';
    case 'iso-8859-1':
    case 'iso_8859-1':
    case 'latin1':
      if (asBytes.has(type)) return 'iso-8859-1';
  }
  throw new Refusal(
    'unsupported-media-type',
    `The charset of ${type} must be utf-8 or us-ascii, for bytes also iso-8859-1`,
  );
}

/** @throws {Hl7Error} when it does not begin like a message */
function charsetOfMessage(bytes: Buffer): string {
  const charset = charsetOf(bytes.toString('latin1')) ?? (isAscii(bytes) ? 'us-ascii' : undefined);
  if (charset !== undefined) return charset;
  throw new Refusal(
    'unsupported-media-type',
    'MSH-18 names a character set that is not read: send UTF-8, one of ISO 8859 or windows-1252',
  );
}

/**
 * Bytes as text; nothing is ever replaced, no byte order mark taken away.
 * @param advice what to do about bytes that are not of the charset
 * @throws {Refusal} invalid
 */
export function decodeBytes(bytes: Buffer, charset: string, advice = ''): string {
  const text = decoded(bytes, charset);
  if (text !== undefined) return text;
  throw new Refusal('invalid', `The body is not valid ${charset}${advice}`);
}

function decoded(bytes: Buffer, charset: string): string | undefined {
  if (charset === 'utf-8') return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  if (charset === 'us-ascii') return isAscii(bytes) ? bytes.toString('latin1') : undefined;
  const text = codecOf(charset)?.decode(bytes);
  // No byte stands for this character: it is what one becomes that stands for none.
  return text?.includes('\uFFFD') ? undefined : text;
}

/** A text in the charset in which its question came, or in UTF-8 where it says what that one cannot. */
export function encodeAnswer(text: string, charset: string): { bytes: Buffer; charset: string } {
  const codec = codecOf(charset);
  const bytes = codec?.encode(text);
  if (codec && bytes && codec.decode(bytes) === text) return { bytes, charset };
  return { bytes: Buffer.from(text, 'utf8'), charset: 'utf-8' };
}
