import type { Answer } from '../gateway/answer.ts';
import type { LocalPage } from '../gateway/gateway.ts';
import type { Mailbox } from './mailbox.ts';
import { decodeWords, type StoredMail } from './stored-mail.ts';

/**
 * `GET /local/mail` and `/local/mail/<id>`: the mailbox, as a page or (Accept: application/json) as data.
 * Mails hold invitation links. A Bot may call this origin, but its host adds a token to every request,
 * which it cannot take off: whoever comes with credentials is not the person at the laptop.
 */
export function mailPages(mailbox: Pick<Mailbox, 'list' | 'read'>): LocalPage {
  return async ({ method, target, rawHeaders }) => {
    const [, id] = /^\/local\/mail(?:\/([\w-]+))?(?:\?.*)?$/.exec(target) ?? [undefined];
    if (!target.startsWith('/local/mail') || method !== 'GET') return undefined;
    if (headerOf(rawHeaders, 'authorization') !== undefined) return json(403, { message: 'Forbidden' });
    const found = id === undefined ? await mailbox.list() : await mailbox.read(id);
    if (!found) return json(404, { message: 'Not Found' });
    return (headerOf(rawHeaders, 'accept') ?? '').includes('text/html')
      ? page([found].flat())
      : json(200, found);
  };
}

function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  const index = rawHeaders.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name);
  return index < 0 ? undefined : rawHeaders[index + 1];
}

function json(statusCode: number, value: unknown): Answer {
  return {
    statusCode,
    headers: [
      ['content-type', 'application/json'],
      ['cache-control', 'no-store'],
    ],
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** The text parts only: what somebody put into a mail never becomes markup of our origin. */
function page(mails: readonly StoredMail[]): Answer {
  const list = mails.toReversed().map(
    ({ id, receivedAt, from, to, subject, text }) => `<article>
<h2><a href="/local/mail/${id}">${escaped(subject)}</a></h2>
<p>${escaped(decodeWords(from))} to ${escaped(to.join(', '))}, ${receivedAt}</p>
<pre>${linked(escaped(text))}</pre>
</article>`,
  );
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Mailbox</title>
<style>:root { color-scheme: light dark; font-family: system-ui } body { max-width: 45rem; margin: auto; padding: 1rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere } article { border-top: 1px solid }</style>
<h1>Mailbox</h1>
${list.join('\n') || '<p>No mail yet.</p>'}
</html>
`;
  return {
    statusCode: 200,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'"],
      ['x-content-type-options', 'nosniff'],
      ['referrer-policy', 'no-referrer'],
      ['cache-control', 'no-store'],
    ],
    body: Buffer.from(html),
  };
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

function linked(escapedText: string): string {
  return escapedText.replace(/https?:\/\/[^\s<]+/g, (url) => `<a href="${url}" rel="noreferrer">${url}</a>`);
}
