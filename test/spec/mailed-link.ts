import type { Local } from '../spec-stack/local.ts';
import type { Portico } from './portico.ts';
import { until } from './subscribing.ts';

type Link = { id: string; secret: string };

/** Id and secret of the newest link of an invitation that was mailed to an address. */
export function mailedLink(
  portico: Portico,
  email: string,
  isOther: (id: string) => boolean = () => true,
): Promise<Link> {
  return mailed(portico, email, { page: 'accept', isOther });
}

/** The same of the reset of a password. */
export function mailedReset(
  portico: Portico,
  email: string,
  isOther: (id: string) => boolean = () => true,
): Promise<Link> {
  return mailed(portico, email, { page: 'reset', isOther });
}

/** The same of the confirmation of a new address. */
export function mailedConfirmation(portico: Portico, email: string): Promise<Link> {
  return mailed(portico, email, { page: 'verify', isOther: () => true });
}

/** The same of what takes an address back. */
export function mailedUndo(portico: Portico, email: string): Promise<Link> {
  return mailed(portico, email, { page: 'undo', isOther: () => true });
}

/** The mails of a subject that have come to an address, once there is one. */
export async function mailsTo(
  portico: Portico,
  email: string,
  subject: string,
): Promise<Awaited<ReturnType<Local['mailbox']['list']>>> {
  return until(async () => {
    const mails = await portico.local.mailbox.list();
    const found = mails.filter((mail) => mail.to.includes(email) && mail.subject === subject);
    return found.length > 0 ? found : undefined;
  }, `a mail ${subject}`);
}

async function mailed(
  portico: Portico,
  email: string,
  { page, isOther }: { page: string; isOther: (id: string) => boolean },
): Promise<Link> {
  return until(async () => {
    const mails = (await portico.local.mailbox.list()).filter(({ to }) => to.includes(email));
    for (const { text } of mails.toReversed()) {
      const fragment = new URLSearchParams(new RegExp(`/${page}#(\\S+)`).exec(text)?.[1]);
      const [id, secret] = [fragment.get('id'), fragment.get('secret')];
      if (id && secret && isOther(id)) return { id, secret };
    }
    return undefined;
  }, `a mail that leads to ${page}`);
}
