import type { Socket } from 'node:net';

/** Inside a frame, or before an acknowledgement is taken, this much silence is the end. */
export const silenceMs = 30_000;

/** What a read came to when it was no bytes. */
export type NoBytes = 'end' | 'silence' | 'stopping' | 'closed';

/**
 * The next bytes of a connection, taken from it only now: what nobody asks for stays with the sender.
 * @param stopping ends the wait
 */
export async function readChunk(
  socket: Socket,
  waitMs: number,
  stopping: AbortSignal,
): Promise<Buffer | NoBytes> {
  for (const untilMs = performance.now() + waitMs; ; ) {
    const chunk: Buffer | null = socket.read();
    if (chunk) return chunk;
    if (socket.readableEnded) return 'end';
    if (socket.destroyed) return 'closed';
    if (stopping.aborted) return 'stopping';
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return 'silence';
    await somethingHappens(socket, leftMs, stopping);
  }
}

/** Writes all of it. @returns false when the other side is gone, or takes nothing for `waitMs` */
export async function writeAll(socket: Socket, bytes: Buffer, waitMs: number): Promise<boolean> {
  if (socket.destroyed || socket.writableEnded) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), waitMs);
  const onClose = () => resolve(false);
  socket.once('close', onClose);
  socket.write(bytes, (error) => resolve(!error));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off('close', onClose);
  });
}

async function somethingHappens(socket: Socket, waitMs: number, stopping: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const happened = () => resolve();
  const timer = setTimeout(happened, waitMs);
  const events = ['readable', 'end', 'close', 'error'];
  for (const event of events) socket.once(event, happened);
  stopping.addEventListener('abort', happened, { once: true });
  await promise;
  clearTimeout(timer);
  for (const event of events) socket.off(event, happened);
  stopping.removeEventListener('abort', happened);
}
