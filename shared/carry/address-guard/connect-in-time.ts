import type { ClientRequest } from 'node:http';
import { TLSSocket } from 'node:tls';

/**
 * Gives a request up whose connection is not there in time: name, address and, for https, the handshake. A network
 * that drops what it does not let through answers nothing at all.
 * @param outgoing fails with the code ETIMEDOUT
 */
export function connectInTime(outgoing: ClientRequest, ms: number): void {
  outgoing.once('socket', (socket) => {
    if (outgoing.reusedSocket) return;
    const late = setTimeout(() => {
      outgoing.destroy(Object.assign(new Error(`No connection within ${ms} ms`), { code: 'ETIMEDOUT' }));
    }, ms);
    const stop = () => clearTimeout(late);
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', stop);
    socket.once('close', stop);
  });
}
