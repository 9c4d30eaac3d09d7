import { isUtf8 } from 'node:buffer';
import { Hl7Error } from '../../../shared/hl7/hl7-error.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';

/** Whether a content is not exactly one HL7 v2 message, or not in the character set that it names. */
export function isMalformed(content: Buffer): boolean {
  try {
    const [charset = ''] = Hl7Message.parse(content.toString('latin1')).getAll('MSH.18');
    return /^(?:UNICODE(?: UTF-?8)?|UTF-?8)?$/i.test(charset) && !isUtf8(content);
  } catch (error) {
    if (error instanceof Hl7Error) return true;
    throw error;
  }
}
