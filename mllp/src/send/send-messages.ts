import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, errorName } from '../../../shared/error-name.ts';
import { longestBodyBytes } from '../../../shared/limits.ts';
import { encodeFrame } from '../frames/encode-frame.ts';
import { FrameDecoder } from '../frames/frame-decoder.ts';
import { type MessageHeader, readHeader } from '../hl7/message-header.ts';
import type { Log } from '../observe/log.ts';
import { writeAll } from '../receive/socket-io.ts';
import type { SendSettings } from '../settings/send-settings.ts';
import { type Answer, awaitAck, type Line } from './await-ack.ts';
import { connect } from './connect.ts';

const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/**
 * Sends messages one at a time, the next when the one before is accepted. One that gets no answer, AE or CE
 * is sent again with growing pauses; the first that is not accepted in the end stops the queue, so that
 * nothing overtakes it.
 * @param print every acknowledgement
 * @returns whether all were accepted
 */
export async function sendMessages(
  messages: AsyncIterable<Buffer>,
  settings: SendSettings,
  print: (ack: Buffer) => void,
  log: Log,
): Promise<boolean> {
  let line: Line | undefined;
  const tryOnce = async (content: Buffer, message: MessageHeader): Promise<Answer> => {
    try {
      line ??= { socket: await connect(settings), decoder: new FrameDecoder(longestBodyBytes) };
    } catch (error) {
      return { kind: 'none', reason: reasonOf(error) };
    }
    const isWritten = await writeAll(line.socket, encodeFrame(content), settings.timeoutMs);
    const answer: Answer = isWritten
      ? await awaitAck(line, message, settings.timeoutMs, print)
      : { kind: 'none', reason: 'closed' };
    // An answer that comes late would be taken for that of the next attempt.
    if (answer.kind === 'none') {
      line.socket.destroy();
      line = undefined;
    }
    return answer;
  };
  try {
    for await (const content of messages) {
      const message = readHeader(content);
      if (!message) {
        log('error', 'not-sent', { reason: 'MSH names no separators' });
        return false;
      }
      if (!(await sendOne(settings.attempts, message.controlId, log, () => tryOnce(content, message))))
        return false;
    }
    return true;
  } finally {
    line?.socket.end();
  }
}

async function sendOne(
  attempts: number,
  controlId: string,
  log: Log,
  tryOnce: () => Promise<Answer>,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const answer = await tryOnce();
    const said = 'code' in answer ? { ack: answer.code } : { reason: answer.reason };
    const isLast = answer.kind === 'accepted' || answer.kind === 'rejected' || attempt >= attempts;
    const level = answer.kind === 'accepted' ? 'info' : isLast ? 'error' : 'warn';
    log(level, answer.kind === 'accepted' ? 'sent' : 'not-accepted', { controlId, attempt, ...said });
    if (isLast) return answer.kind === 'accepted';
    await pause(Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1)));
  }
}

/** The system's word; a text could name what was sent. */
function reasonOf(error: unknown): string {
  return errorCode(error) ?? errorName(error);
}
