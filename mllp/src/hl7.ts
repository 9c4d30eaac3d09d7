import { isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { AckCode } from '../../shared/bots/hl7/ack.ts';
import { bytewise, type Codec, charsetNamed, charsetOf, codecOf } from '../../shared/bots/hl7/charset.ts';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { Hl7Error } from '../../shared/bots/hl7/text.ts';

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
      acceptAck: conditionOf(header.get('MSH.15')),
      applicationAck: conditionOf(header.get('MSH.16')),
    };
  } catch (error) {
    if (error instanceof Hl7Error) return undefined;
    throw error;
  }
}

/** The character set that MSH-18 names first; empty when it names none. */
export function nameOfCharset(message: Hl7Message): string {
  return message.get('MSH.18[1]') ?? '';
}

function conditionOf(value = ''): AckCondition | undefined {
  const code = value.trim().toUpperCase();
  return code === 'AL' || code === 'NE' || code === 'ER' || code === 'SU' ? code : undefined;
}

/** ERR-8 holds 250 characters (HL7 v2.5.1 section 2.14.5.8). */
const longestText = 250;

/** For a content without MSH there is nobody to address. */
const nobody = 'MSH|^~\\&|||||||||P|2.5.1';

/**
 * An acknowledgement as bytes in the sender's character set, addressed back to it.
 * @param text for MSA-3 and ERR-8; left out, the code's own words
 */
export function buildAck(message: MessageHeader | undefined, ackCode: AckCode, text?: string): Buffer {
  const header = message?.header ?? Hl7Message.parse(nobody);
  const said = text === undefined ? {} : { text: shorten(text) };
  const ack = header.buildAck({ ackCode, ...said }).toString();
  return message ? message.codec.encode(ack) : Buffer.from(ack, 'latin1');
}

function shorten(text: string): string {
  const characters = Array.from(text);
  return characters.length <= longestText ? text : `${characters.slice(0, longestText - 3).join('')}...`;
}

/**
 * The `Idempotency-Key` of a message: its identity (MSH-3, 4, 7, 10) and its bytes, for one Bot and way of
 * running it. A sender's repeat is the same key; a control id that is used again for other content is not.
 * @param purpose the Bot, and whether somebody waits for it: the service takes these for other requests
 */
export function idempotencyKey(
  identity: readonly string[],
  content: Buffer,
  purpose: readonly string[],
): string {
  const hash = createHash('sha256').update(content).digest('hex');
  const all = JSON.stringify([...purpose, ...identity, hash]);
  return `hl7-${createHash('sha256').update(all).digest('hex')}`;
}

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
