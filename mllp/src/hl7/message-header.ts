import { isUtf8 } from 'node:buffer';
import { charsetNamed } from '../../../shared/hl7/charset.ts';
import { bytewise, type Codec, codecOf } from '../../../shared/hl7/codec.ts';
import { Hl7Error } from '../../../shared/hl7/hl7-error.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';

/** MSH lies within this much, also behind the header of a batch. */
const searchedBytes = 64 * 1024;

/** What is to be known of a message to pass it on and to acknowledge it: nothing but its MSH. */
export interface MessageHeader {
  /** The MSH alone, as a message. */
  header: Hl7Message;
  /** In which our own acknowledgement is written. */
  codec: Codec;
  /** MSH-10. */
  controlId: string;
  /** MSH-3, 4, 7 and 10, as they are written. */
  identity: readonly [string, string, string, string];
  /** MSH-15 and MSH-16 (HL7 table 0155); undefined when not valued or not of that table. */
  acceptAck: AckCondition | undefined;
  applicationAck: AckCondition | undefined;
}

/** HL7 table 0155: always, never, on error or reject only, on success only. */
export type AckCondition = 'AL' | 'NE' | 'ER' | 'SU';

/**
 * Reads the first MSH of a content; undefined when there is none or it names no separators.
 * The rest of the message is not looked at.
 */
export function readHeader(content: Buffer): MessageHeader | undefined {
  const text = content.subarray(0, searchedBytes).toString('latin1');
  const found = /(?:^|[\r\n]|^\xef\xbb\xbf)(MSH[^\r\n]*)/.exec(text)?.[1];
  if (found === undefined) return undefined;
  try {
    const bytes = Buffer.from(found, 'latin1');
    const charset = charsetNamed(nameOfCharset(Hl7Message.parse(found)));
    const isReadable = charset !== undefined && (charset !== 'utf-8' || isUtf8(bytes));
    const codec = (isReadable ? codecOf(charset) : undefined) ?? bytewise;
    const header = Hl7Message.parse(codec.decode(bytes));
    const written = (field: number) => header.header.getField(field)?.toString() ?? '';
    return {
      header,
      codec,
      controlId: written(10),
      identity: [written(3), written(4), written(7), written(10)],
      acceptAck: conditionOf(fieldOf(header, 'MSH.15')),
      applicationAck: conditionOf(fieldOf(header, 'MSH.16')),
    };
  } catch (error) {
    if (error instanceof Hl7Error) return undefined;
    throw error;
  }
}

/** The character set that MSH-18 names first; empty when it names none. */
export function nameOfCharset(message: Hl7Message): string {
  return fieldOf(message, 'MSH.18[1]');
}

function fieldOf(message: Hl7Message, path: `${string}.${string}`): string {
  return message.get(path) ?? '';
}

function conditionOf(value: string): AckCondition | undefined {
  const code = value.trim().toUpperCase();
  return code === 'AL' || code === 'NE' || code === 'ER' || code === 'SU' ? code : undefined;
}
