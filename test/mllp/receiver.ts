import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { encodeFrame } from '../../mllp/src/frames.ts';

/** What a receiver does with a message: frames with these MSA codes, nothing, or the end of the connection. */
export type Behaviour = string[] | 'cut' | ((socket: Socket, controlId: string) => void);

/** A receiver that does as it is told, message after message; the last behaviour stays. */
export async function startReceiver(behaviours: Behaviour[]) {
  const received: { controlId: string; text: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let buffer = '';
    sockets.add(socket);
    socket.on('error', () => undefined).setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      buffer += chunk;
      for (let end = buffer.indexOf('\u001c\r'); end >= 0; end = buffer.indexOf('\u001c\r')) {
        const text = buffer.slice(1, end);
        buffer = buffer.slice(end + 2);
        const controlId = text.split('|')[9] ?? '';
        received.push({ controlId, text });
        const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
        if (behaviour === 'cut') socket.destroy();
        else if (typeof behaviour === 'function') behaviour(socket, controlId);
        else for (const code of behaviour ?? []) socket.write(ackOf(code, controlId));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('No port');
  return {
    port: String(address.port),
    received,
    ids: () => received.map(({ controlId }) => controlId),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export function ackOf(code: string, controlId: string): Buffer {
  return encodeFrame(Buffer.from(`MSH|^~\\&|R|||||2026||ACK|a|P|2.5.1\rMSA|${code}|${controlId}`));
}
