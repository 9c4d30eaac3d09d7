import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SendSettings } from '../settings/send-settings.ts';

/** A connection that is ready to be written to. @throws {Error} of the system or of TLS, or a time-out */
export async function connect({ to, tls, timeoutMs }: SendSettings): Promise<Socket> {
  const read = async (file: string | undefined) => (file === undefined ? undefined : readFile(file));
  const [cert, key, ca] = await Promise.all([read(tls?.cert), read(tls?.key), read(tls?.ca)]);
  const given = { ...(cert ? { cert } : {}), ...(key ? { key } : {}), ...(ca ? { ca } : {}) };
  const servername = isIP(to.host) ? {} : { servername: to.host };
  const socket = tls ? connectTls({ ...to, ...servername, ...given }) : connectTcp(to);
  try {
    await once(socket, tls ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    // What goes wrong later is seen where it is read or written.
    return socket.on('error', () => undefined);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}
