import type { AckCode } from '../../../shared/hl7/ack.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';
import type { MessageHeader } from './message-header.ts';

/** ERR-8 holds 250 characters (HL7 v2.5.1 section 2.14.5.8). */
const longestText = 250;

/** For a content without MSH there is nobody to address. */
const nobody = 'MSH|^~\\&|||||||||P|2.5.1';

export interface Acknowledgement {
  ackCode: AckCode;
  /** For MSA-3 and ERR-8; left out, the code's own words. */
  text?: string | undefined;
}

/** An acknowledgement as bytes in the sender's character set, addressed back to it. */
export function buildAck(message: MessageHeader | undefined, { ackCode, text }: Acknowledgement): Buffer {
  const header = message?.header ?? Hl7Message.parse(nobody);
  const said = text === undefined ? {} : { text: shorten(text) };
  const ack = header.buildAck({ ackCode, ...said }).toString();
  return message ? message.codec.encode(ack) : Buffer.from(ack, 'latin1');
}

function shorten(text: string): string {
  const characters = Array.from(text);
  return characters.length <= longestText ? text : `${characters.slice(0, longestText - 3).join('')}...`;
}
