import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { withoutMapping } from '../settings/address.ts';
import type { ListenerSettings, TlsFiles } from '../settings/settings.ts';
import { serveConnection } from './connection.ts';
import type { Receiver } from './receiver.ts';

export interface Listener {
  /** `host:port`, with the port that it was given. */
  name: string;
  port: number;
  /** Takes no more connections; resolves when those that are open have ended. */
  stop(): Promise<void>;
}

const handshakeMs = 10_000;

/**
 * Listens for senders. Who may not connect is cut off before a byte is read.
 * @throws {Error} when the address is in use or the certificates are none
 */
export async function startListener(receiver: Receiver, settings: ListenerSettings): Promise<Listener> {
  const open = new Set<Promise<void>>();
  let name = '';
  const refuse = (socket: Socket | undefined, peer: string, reason: string) => {
    socket?.destroy();
    receiver.metrics.add('refused_connections_total', { listener: name, reason });
    receiver.log('warn', 'refused', { listener: name, peer, reason });
  };
  const serve = (socket: Socket) => {
    const served = serveConnection(receiver, socket, settings, name).catch((error: Error) => {
      receiver.log('error', 'fault', { listener: name, error: error.name, at: placeOf(error) });
      socket.destroy();
    });
    open.add(served);
    void served.finally(() => open.delete(served));
  };
  const secure = settings.tls && (await tlsServer(settings.tls, serve, refuse));
  // A sender may end its side as soon as it has sent everything: it still gets its acknowledgements.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const peer = withoutMapping(socket.remoteAddress ?? '');
    if (settings.allows?.(peer) === false) refuse(socket, peer, 'address');
    else if (secure) secure.emit('connection', socket);
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
    name,
    port: portOf(server),
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

/** Where in our code, without the error's text: that could quote a message. */
function placeOf({ stack }: Error): string | undefined {
  return /\n\s*at (.*)/.exec(stack ?? '')?.[1];
}

async function tlsServer(
  { cert, key, ca }: TlsFiles,
  serve: (socket: Socket) => void,
  refuse: (socket: Socket | undefined, peer: string, reason: string) => void,
): Promise<Server> {
  const read = async (file: string | undefined) => (file === undefined ? undefined : readFile(file));
  const [certificate, privateKey, authorities] = await Promise.all([read(cert), read(key), read(ca)]);
  const server = createTlsServer(
    {
      cert: certificate,
      key: privateKey,
      ...(authorities ? { ca: authorities, requestCert: true, rejectUnauthorized: true } : {}),
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
