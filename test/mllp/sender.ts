import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodeFrame } from '../../mllp/src/frames.ts';

/** A sender of nothing but sockets, which knows no more of MLLP than its three bytes. */
export interface Sender {
  socket: Socket;
  /** Bytes as they are. */
  write(bytes: Buffer | string): void;
  /** One frame. */
  send(message: Buffer | string): void;
  /** The content of the next frame that comes back. @throws {Error} when the connection ends before */
  next(): Promise<string>;
  /** Sends and waits. */
  ask(message: Buffer | string): Promise<string>;
  close(): void;
}

export async function connectTo(port: number, socket: Socket = connect(port, '127.0.0.1')): Promise<Sender> {
  let received = '';
  let isOver = false;
  let look = () => {};
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    look();
  });
  for (const event of ['end', 'error', 'close']) {
    socket.on(event, () => {
      isOver = true;
      look();
    });
  }
  if (socket.connecting) await once(socket, 'connect');
  const sender: Sender = {
    socket,
    write: (bytes) => void socket.write(bytes),
    send: (message) => void socket.write(encodeFrame(Buffer.from(message))),
    next: () =>
      new Promise((done, failed) => {
        look = () => {
          const end = received.indexOf('\u001c\r');
          if (received.startsWith('\v') && end > 0) {
            const frame = received.slice(1, end);
            received = received.slice(end + 2);
            // What comes before the next call stays for it.
            look = () => {};
            done(frame);
          } else if (isOver) failed(new Error(`The connection ended: ${JSON.stringify(received)}`));
        };
        look();
      }),
    async ask(message) {
      sender.send(message);
      return sender.next();
    },
    close: () => void socket.destroy(),
  };
  return sender;
}

/** A message with a control id; more MSH fields by their number. */
export function messageOf(
  controlId: string,
  fields: Record<number, string> = {},
  more: string[] = ['PID|1||7'],
): string {
  const msh = [
    'MSH',
    '^~\\&',
    'LAB',
    'CLINIC',
    'PORTICO',
    'DEMO',
    '20260101120000',
    '',
    'ORU^R01',
    controlId,
    'P',
    '2.5.1',
  ];
  for (const [number, value] of Object.entries(fields)) {
    while (msh.length < Number(number)) msh.push('');
    msh[Number(number) - 1] = value;
  }
  return [msh.join('|'), ...more].join('\r');
}

/** MSA-1, MSA-2 and MSA-3 of an acknowledgement. */
export function msaOf(ack: string): string[] {
  const msa = ack.split('\r').find((segment) => segment.startsWith('MSA|')) ?? '';
  return msa.split('|').slice(1, 4);
}
