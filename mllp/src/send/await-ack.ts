import type { Socket } from 'node:net';
import { Hl7Error } from '../../../shared/hl7/hl7-error.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';
import type { FrameDecoder } from '../frames/frame-decoder.ts';
import type { MessageHeader } from '../hl7/message-header.ts';
import { type AckMode, ackModeOf } from '../receive/acknowledge.ts';
import { readChunk } from '../receive/socket-io.ts';

/** How the receiver answered one message. */
export type Answer =
  | { kind: 'accepted'; code: string }
  /** AE or CE: sent again it may be taken. */
  | { kind: 'error'; code: string }
  /** No repeat will mend it, or it is the receiver's business now. */
  | { kind: 'rejected'; code: string }
  | { kind: 'none'; reason: string };

export interface Line {
  socket: Socket;
  decoder: FrameDecoder;
}

const never = new AbortController().signal;

/**
 * Waits for the acknowledgements that a message asks for (MSH-15 and MSH-16; one when it says nothing).
 * @param told every acknowledgement of this message, as it came
 */
export async function awaitAck(
  line: Line,
  message: MessageHeader,
  timeoutMs: number,
  told: (ack: Buffer) => void,
): Promise<Answer> {
  const untilMs = performance.now() + timeoutMs;
  const wanted = wantedOf(ackModeOf(message));
  let code = '';
  while (wanted.accept || wanted.application || wanted.errors) {
    const ack = await nextAck(line, message.controlId, untilMs - performance.now());
    // Silence is the answer to a message that wants to hear of errors only.
    if (ack === 'silence' && !wanted.accept && !wanted.application) break;
    if (typeof ack === 'string') {
      return code === '' ? { kind: 'none', reason: ack } : { kind: 'rejected', code: `${code}, then ${ack}` };
    }
    told(ack.bytes);
    const isAccepted = code !== '';
    code = ack.code;
    if (/^[AC]R$/.test(code)) return { kind: 'rejected', code };
    if (/^[AC]E$/.test(code)) return { kind: isAccepted ? 'rejected' : 'error', code };
    if (code !== 'AA' && code !== 'CA') return { kind: 'rejected', code: 'no MSA-1' };
    if (code === 'AA') break;
    wanted.accept = false;
    wanted.errors = false;
  }
  return { kind: 'accepted', code };
}

/** AA ends the waiting in any mode; what else is waited for. */
function wantedOf(mode: AckMode): { accept: boolean; application: boolean; errors: boolean } {
  if (mode.kind === 'original') return { accept: true, application: false, errors: false };
  const always = (condition: string) => condition === 'AL' || condition === 'SU';
  return {
    accept: always(mode.accept),
    application: always(mode.application),
    errors: mode.accept === 'ER' || mode.application === 'ER',
  };
}

/** The next acknowledgement of this message; others, of earlier ones that were given up, are passed over. */
async function nextAck(
  { socket, decoder }: Line,
  controlId: string,
  waitMs: number,
): Promise<{ code: string; bytes: Buffer } | string> {
  for (const untilMs = performance.now() + waitMs; ; ) {
    const frame = decoder.next();
    if (frame && frame.kind !== 'message') return frame.kind === 'malformed' ? frame.reason : 'too long';
    const ack = frame && readAck(frame.bytes);
    if (frame && ack && (ack.controlId === controlId || ack.controlId === '')) {
      return { code: ack.code, bytes: frame.bytes };
    }
    if (frame) continue;
    const chunk = await readChunk(socket, untilMs - performance.now(), never);
    if (!Buffer.isBuffer(chunk)) return chunk;
    decoder.push(chunk);
  }
}

function readAck(bytes: Buffer): { code: string; controlId: string } {
  try {
    const message = Hl7Message.parse(bytes.toString('latin1'));
    return { code: message.getAckType() ?? '', controlId: message.get('MSA.2') ?? '' };
  } catch (error) {
    if (error instanceof Hl7Error) return { code: '', controlId: '' };
    throw error;
  }
}
