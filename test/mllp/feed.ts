import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { connectTo, messageOf, msaOf, type Sender } from './sender.ts';

/** What a sender knows of a message in the end. */
export interface Sent {
  controlId: string;
  code: string;
  attempts: number;
}

/**
 * A sender as an interface engine has it: one message after the other, each again on AE, a lost connection
 * or no connection, until it is AA or `isOver` says that it never will be.
 * @param told each acknowledgement, as it comes
 */
export async function feed(
  port: number,
  count: number,
  {
    told = () => {},
    isOver = () => false,
  }: { told?: () => void; isOver?: (controlId: string) => boolean } = {},
): Promise<Sent[]> {
  const all: Sent[] = [];
  let sender: Sender | undefined;
  for (let sent = 0; sent < count; sent++) {
    const controlId = randomUUID();
    const message = messageOf(controlId);
    for (let attempts = 1; ; attempts++) {
      let code = 'none';
      try {
        sender ??= await connectTo(port);
        code = msaOf(await sender.ask(message))[0] ?? '';
      } catch {
        sender?.close();
        sender = undefined;
      }
      if (code === 'AA' || isOver(controlId)) {
        all.push({ controlId, code, attempts });
        break;
      }
      await pause(300);
    }
    told();
  }
  sender?.close();
  return all;
}

/** Many of them at once. */
export async function feeds(
  port: number,
  connections: number,
  count: number,
  options?: Parameters<typeof feed>[2],
): Promise<Sent[]> {
  const all = await Promise.all(Array.from({ length: connections }, () => feed(port, count, options)));
  return all.flat();
}
