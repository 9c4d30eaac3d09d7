import { isAscii, isUtf8 } from 'node:buffer';
import { charsetOf } from '../../../shared/hl7/charset.ts';
import { Hl7Error } from '../../../shared/hl7/hl7-error.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';

/** Whether a content is not exactly one HL7 v2 message, or not in the character set that it names. */
export function isMalformed(content: Buffer): boolean {
  try {
    const text = content.toString('latin1');
    Hl7Message.parse(text);
    const charset = charsetOf(text);
    if (charset === 'utf-8') return !isUtf8(content);
    return charset === 'us-ascii' && !isAscii(content);
  } catch (error) {
    if (error instanceof Hl7Error) return true;
    throw error;
  }
}
