import type { Socket } from 'node:net';
import { longestBodyBytes } from '../../../shared/base/limits.ts';
import { FrameDecoder, type MalformedReason } from '../frames.ts';
import { type Answered, answerMessage, answerTooLong } from './answer-message.ts';
import { followJob } from './deliver.ts';
import { type Coming, type Connection, leastBytesPerSecond, type Receiver } from './receiver.ts';
import { type NoBytes, readChunk, silenceMs } from './socket-io.ts';

/** Why a connection is over. */
export type End =
  | NoBytes
  | MalformedReason
  | 'cut off inside a frame'
  | 'too slow inside a frame'
  | 'acknowledgement not taken';

/** More than this of one frame takes a place among the large ones. */
const smallFrameBytes = 64 * 1024;

/**
 * Answers frame by frame, each before the next is looked at. What comes meanwhile stays in the buffers of
 * the system and of the sender: a connection holds one message and one chunk.
 */
export async function answerFrames(receiver: Receiver, socket: Socket, connection: Connection): Promise<End> {
  const decoder = new FrameDecoder(longestBodyBytes);
  const { stopping } = receiver;
  /** Of a large frame: gives its place back. */
  let leave: (() => void) | undefined;
  let frameBeganMs = 0;
  const tooSlow = new AbortController();
  const over = AbortSignal.any([stopping, tooSlow.signal]);
  const coming: Coming = {
    bytes: () => (decoder.isInside ? decoder.cameBytes : undefined),
    cutOff: () => tooSlow.abort(),
  };
  try {
    for (;;) {
      const answered = await answerFirst(receiver, connection, decoder);
      if (answered) {
        // From here on the message is held no more, however long its job takes.
        leave?.();
        leave = undefined;
        if ('end' in answered) return answered.end;
        const isTaken = !answered.job || (await followJob(receiver, connection, answered.job));
        if (!answered.isTaken || !isTaken) return stopping.aborted ? 'stopping' : 'acknowledgement not taken';
        if (stopping.aborted) return 'stopping';
        continue;
      }
      if (!decoder.isInside) frameBeganMs = performance.now();
      if (!leave && decoder.heldBytes > smallFrameBytes) {
        const askedAtMs = performance.now();
        leave = await receiver.largeFrames
          .enter(connection.peer, coming, connection.over)
          .catch(() => undefined);
        if (!leave) return stopping.aborted ? 'stopping' : 'closed';
        frameBeganMs += performance.now() - askedAtMs;
      }
      const dueMs = frameBeganMs + silenceMs + (1000 * decoder.cameBytes) / leastBytesPerSecond;
      const waitMs = decoder.isInside
        ? Math.min(silenceMs, dueMs - performance.now())
        : connection.settings.idleMs;
      const chunk = await readChunk(socket, waitMs, over);
      if (Buffer.isBuffer(chunk)) decoder.push(chunk);
      else if (tooSlow.signal.aborted) return 'too slow inside a frame';
      else return decoder.isInside && chunk !== 'stopping' ? 'cut off inside a frame' : chunk;
    }
  } finally {
    leave?.();
  }
}

/** The next frame, if it is there. Its content lives no longer than this call. */
async function answerFirst(
  receiver: Receiver,
  connection: Connection,
  decoder: FrameDecoder,
): Promise<Answered | { end: End } | undefined> {
  const frame = decoder.next();
  switch (frame?.kind) {
    case undefined:
      return undefined;
    case 'malformed':
      return { end: frame.reason };
    case 'message':
      return answerMessage(receiver, connection, frame.bytes);
    case 'too-long':
      return answerTooLong(receiver, connection, frame);
  }
}
