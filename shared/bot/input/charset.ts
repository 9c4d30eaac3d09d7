import { charsetOf } from '../../hl7/charset.ts';
import { Refusal } from '../../refusal.ts';
import type { MediaType } from './media-type.ts';

/** Types that reach us as bytes; of text and JSON API Gateway has already made a UTF-8 string. */
const asBytes = new Set([
  'x-application/hl7-v2+er7',
  'application/x-www-form-urlencoded',
  'application/fhir+json',
]);

export type Charset = 'utf-8' | 'us-ascii' | 'iso-8859-1';

/**
 * The charset of a body: what the parameter says, for HL7 else what MSH-18 says, else UTF-8.
 * @throws {Refusal} unsupported-media-type for any but utf-8, us-ascii and, for byte types, iso-8859-1
 */
export function charsetFor({ type, charset }: MediaType, bytes: Buffer): Charset {
  const named =
    charset ?? (type === 'x-application/hl7-v2+er7' ? charsetOf(bytes.toString('latin1')) : 'utf-8');
  switch (named.toLowerCase()) {
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

/** Bytes as text; nothing is ever replaced, no byte order mark taken away. @throws {Refusal} invalid */
export function decodeBytes(bytes: Buffer, charset: Charset): string {
  if (charset === 'iso-8859-1') return bytes.toString('latin1');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (charset === 'utf-8' || !/[^\0-\x7f]/.test(text)) return text;
  } catch {
    // falls through: both faults get the same answer
  }
  throw new Refusal('invalid', `The body is not valid ${charset}`);
}
