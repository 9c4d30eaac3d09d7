import { charsetNamed } from '../../../shared/hl7/charset.ts';
import { bytewise, codecOf } from '../../../shared/hl7/codec.ts';
import { Hl7Error } from '../../../shared/hl7/hl7-error.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';
import { isFramable } from '../frames/encode-frame.ts';
import { nameOfCharset } from '../hl7/message-header.ts';
import type { FinalOutcome } from '../receive/outcome.ts';
import type { Answer } from './service.ts';

const hl7 = 'x-application/hl7-v2+er7';

/** What the Bot returned. An HL7 v2 message goes back as it is, in the character set that its own MSH-18 names. */
export function readAnswer({ contentType, body }: Answer): FinalOutcome {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== hl7) return { kind: 'done', answer: undefined };
  const charset = /charset="?([^\s";]+)/.exec(parameters.join(';'))?.[1] ?? 'utf-8';
  return answered(body, charset);
}

/** The same for an answer that came as text inside JSON. */
export function readTextAnswer(text: string): FinalOutcome {
  return answered(Buffer.from(text, 'utf8'), 'utf-8');
}

function answered(body: Buffer, charset: string): FinalOutcome {
  const message = messageOf(body, charset);
  if (!message) return { kind: 'done', answer: undefined };
  // Without a known character set on both sides the bytes stay as the service sent them.
  const bytes = codecOf(charsetNamed(nameOfCharset(message)) ?? '')?.encode(message.toString()) ?? body;
  if (isFramable(bytes)) return { kind: 'done', answer: { bytes, code: message.getAckType() ?? '' } };
  // What the Bot said cannot be told from what it did: somebody has to look.
  return { kind: 'unknown', text: 'The answer of the Bot holds bytes that end an MLLP frame' };
}

/** Without a frame or byte order mark of its own; undefined when it is no message. */
function messageOf(body: Buffer, charset: string): Hl7Message | undefined {
  try {
    return Hl7Message.parse((codecOf(charset) ?? bytewise).decode(body));
  } catch (error) {
    if (error instanceof Hl7Error) return undefined;
    throw error;
  }
}
