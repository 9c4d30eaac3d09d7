import { setTimeout as pause } from 'node:timers/promises';
import type { Portico } from './portico.ts';

/** Id and secret of the newest link that was mailed to an address. */
export async function mailedLink(
  portico: Portico,
  email: string,
  isOther: (id: string) => boolean = () => true,
): Promise<{ id: string; secret: string }> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const mails = (await portico.local.mailbox.list()).filter(({ to }) => to.includes(email));
    const text = mails.at(-1)?.text ?? '';
    const fragment = new URLSearchParams(/accept#(\S+)/.exec(text)?.[1]);
    const [id, secret] = [fragment.get('id'), fragment.get('secret')];
    if (id && secret && isOther(id)) return { id, secret };
    await pause(50);
  }
  throw new Error('No mail came');
}
