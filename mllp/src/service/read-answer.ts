import type { OperationOutcome } from '../../../client/src/operation-outcome-error.ts';
import { bytewise, charsetNamed, codecOf } from '../../../shared/bots/hl7/charset.ts';
import { messageOf } from '../../../shared/bots/hl7/message.ts';
import { isFramable } from '../frames.ts';
import { nameOfCharset } from '../hl7.ts';
import type { FinalOutcome } from '../receive/acknowledge.ts';
import type { ServiceAnswer } from './service.ts';

const hl7 = 'x-application/hl7-v2+er7';

/** What the Bot returned. An HL7 v2 message goes back as it is, in the character set that its own MSH-18 names. */
export function readAnswer({ contentType, body }: ServiceAnswer): FinalOutcome {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== hl7) return { kind: 'done', answer: undefined };
  const charset = /charset="?([^\s";]+)/.exec(parameters.join(';'))?.[1] ?? 'utf-8';
  return answered(body, charset);
}

function answered(body: Buffer, charset: string): FinalOutcome {
  // Without a frame or byte order mark of its own.
  const message = messageOf((codecOf(charset) ?? bytewise).decode(body));
  if (!message) return { kind: 'done', answer: undefined };
  // Without a known character set on both sides the bytes stay as the service sent them.
  const bytes = codecOf(charsetNamed(nameOfCharset(message)) ?? '')?.encode(message.toString()) ?? body;
  if (isFramable(bytes)) return { kind: 'done', answer: { bytes, code: message.getAckType() ?? '' } };
  // What the Bot said cannot be told from what it did: somebody has to look.
  return { kind: 'unknown', text: 'The answer of the Bot holds bytes that end an MLLP frame' };
}

/** As far as it is read: R4 Parameters with `responseBody` or `outcome`. */
interface AsyncJob {
  status?: unknown;
  output?: { parameter?: { name?: unknown; valueString?: unknown; resource?: unknown }[] };
}

/** What the Bot returned or why it did not, from the AsyncJob of a run that has ended. */
export function readEndedJob(job: unknown): FinalOutcome {
  const { status, output } = (job ?? {}) as AsyncJob;
  const [parameter] = output?.parameter ?? [];
  if (status === 'completed') {
    return typeof parameter?.valueString === 'string'
      ? answered(Buffer.from(parameter.valueString), 'utf-8')
      : { kind: 'done', answer: undefined };
  }
  // With an outcome it had begun, and was stopped somewhere.
  if (status === 'cancelled') {
    return { kind: parameter ? 'failed' : 'not-run', text: 'The job was cancelled' };
  }
  const outcome = parameter?.resource as OperationOutcome | undefined;
  const text = outcome?.issue?.[0]?.details?.text ?? `The job ended as ${JSON.stringify(status)}`;
  const isKnown = status === 'error' && outcome !== undefined && outcome.id !== 'outcome-unknown';
  return { kind: isKnown ? 'failed' : 'unknown', text };
}
