import type { Socket } from 'node:net';
import { encodeFrame } from '../frames/encode-frame.ts';
import { withoutMapping } from '../settings/address.ts';
import type { ListenerSettings } from '../settings/settings.ts';
import { answerFrames } from './answer-frames.ts';
import type { Connection, Receiver } from './receiver.ts';
import { silenceMs, writeAll } from './socket-io.ts';

/** Half-open connections are found by the system's own probes. */
const probeAfterMs = 60_000;
/** For the other side to take the last bytes. */
const closeWithinMs = 5_000;
/** Ends that are nobody's fault. */
const wellEnded = new Set<string>(['end', 'closed', 'stopping']);

let connections = 0;

/** Serves one connection until it ends. */
export async function serveConnection(
  receiver: Receiver,
  socket: Socket,
  settings: ListenerSettings,
  listener: string,
): Promise<void> {
  const { log, metrics } = receiver;
  const gone = new AbortController();
  const over = new AbortController();
  const end = () => over.abort();
  receiver.stopping.addEventListener('abort', end, { once: true });
  socket.setKeepAlive(true, probeAfterMs).setNoDelay(true);
  // An error is followed by 'close', which is what counts.
  socket
    .on('error', () => undefined)
    .once('close', () => {
      gone.abort();
      over.abort();
    });
  const connection: Connection = {
    settings,
    listener,
    peer: withoutMapping(socket.remoteAddress ?? ''),
    number: ++connections,
    gone: gone.signal,
    over: over.signal,
    reply: (message) => writeAll(socket, encodeFrame(message), silenceMs),
  };
  const name = { listener, connection: connection.number, peer: connection.peer };
  log('info', 'connected', name);
  metrics.add('connections_total', { listener });
  metrics.add('connections', { listener });
  try {
    const reason = await answerFrames(receiver, socket, connection);
    if (!wellEnded.has(reason)) metrics.add('broken_connections_total', { listener, reason });
    log(wellEnded.has(reason) ? 'info' : 'warn', 'disconnected', { ...name, reason });
  } finally {
    receiver.stopping.removeEventListener('abort', end);
    metrics.add('connections', { listener }, -1);
    close(socket);
  }
}

function close(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), closeWithinMs).unref();
  socket.once('close', () => clearTimeout(timer)).end(() => socket.destroy());
}
