import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { encodeFrame } from '../frames.ts';
import { readTlsFiles, type TlsFiles, withoutMapping } from '../settings/fields.ts';
import { type ListenerSettings, shareOf } from '../settings/settings.ts';
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

async function serveConnection(
  receiver: Receiver,
  socket: Socket,
  settings: ListenerSettings,
  listener: string,
): Promise<void> {
  const { log, metrics } = receiver;
  const gone = new AbortController();
  socket.setKeepAlive(true, probeAfterMs).setNoDelay(true);
  // An error is followed by 'close', which is what counts.
  socket.on('error', () => undefined).once('close', () => gone.abort());
  const connection: Connection = {
    settings,
    listener,
    peer: withoutMapping(socket.remoteAddress ?? ''),
    number: ++connections,
    gone: gone.signal,
    over: AbortSignal.any([gone.signal, receiver.stopping]),
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
    metrics.add('connections', { listener }, -1);
    close(socket);
  }
}

function close(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), closeWithinMs).unref();
  socket.once('close', () => clearTimeout(timer)).end(() => socket.destroy());
}

export type Listener = Awaited<ReturnType<typeof startListener>>;

const handshakeMs = 10_000;

/**
 * Listens for senders. Who may not connect is cut off before a byte is read.
 * @throws {Error} when the address is in use or the certificates are none
 */
export async function startListener(receiver: Receiver, settings: ListenerSettings) {
  const open = new Set<Promise<void>>();
  const ofPeers = new Map<string, number>();
  const mostOfPeer = shareOf(settings.mostConnections, receiver.peerShare);
  let name = '';
  const refuse = (socket: Socket | undefined, peer: string, reason: string) => {
    socket?.destroy();
    receiver.metrics.add('refused_connections_total', { listener: name, reason });
    receiver.log('warn', 'refused', { listener: name, peer, reason });
  };
  const serve = (socket: Socket) => {
    const served = serveConnection(receiver, socket, settings, name).catch((error: Error) => {
      // Where in our code, without the error's text: that could quote a message.
      const at = /\n\s*at (.*)/.exec(error.stack ?? '')?.[1];
      receiver.log('error', 'fault', { listener: name, error: error.name, at });
      socket.destroy();
    });
    open.add(served);
    void served.finally(() => open.delete(served));
  };
  const secure = settings.tls && (await tlsServer(settings.tls, serve, refuse));
  // A sender may end its side as soon as it has sent everything: it still gets its acknowledgements.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const peer = withoutMapping(socket.remoteAddress ?? '');
    const own = ofPeers.get(peer) ?? 0;
    if (settings.allows?.(peer) === false) return refuse(socket, peer, 'address');
    if (own >= mostOfPeer) return refuse(socket, peer, 'too many of this peer');
    ofPeers.set(peer, own + 1);
    socket.once('close', () => {
      const left = (ofPeers.get(peer) ?? 1) - 1;
      if (left > 0) ofPeers.set(peer, left);
      else ofPeers.delete(peer);
    });
    if (secure) secure.emit('connection', socket);
    else serve(socket);
  });
  server.maxConnections = settings.mostConnections;
  server.on('drop', (dropped) => refuse(undefined, withoutMapping(dropped?.remoteAddress ?? ''), 'too many'));
  server.once('listening', () => {
    name = `${settings.address.host}:${portOf(server)}`;
  });
  server.listen(settings.address.port, settings.address.host);
  await once(server, 'listening');
  return {
    /** `host:port`, with the port that it was given. */
    name,
    port: portOf(server),
    /** Takes no more connections; resolves when those that are open have ended. */
    async stop() {
      server.close();
      secure?.close();
      await Promise.all(open);
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function tlsServer(
  files: TlsFiles,
  serve: (socket: Socket) => void,
  refuse: (socket: Socket | undefined, peer: string, reason: string) => void,
): Promise<Server> {
  const read = await readTlsFiles(files);
  const server = createTlsServer(
    {
      ...read,
      ...(read.ca ? { requestCert: true, rejectUnauthorized: true } : {}),
      handshakeTimeout: handshakeMs,
      allowHalfOpen: true,
    },
    serve,
  );
  server.on('tlsClientError', (error: Error & { code?: string }, socket) => {
    refuse(undefined, withoutMapping(socket.remoteAddress ?? ''), error.code ?? 'no TLS');
  });
  return server;
}
