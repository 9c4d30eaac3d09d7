import type { Mail } from './mailer.ts';

/** The mail that brings an invitation. Names are text: escaped in HTML, kept out of headers by SES. */
export function invitationMail(input: {
  to: string;
  projectName: string;
  invitee: string;
  url: string;
  expiresAtMs: number;
}): Mail {
  const { to, projectName, invitee, url, expiresAtMs } = input;
  const until = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(expiresAtMs);
  const lines = [
    `Hello ${invitee},`,
    `you are invited to join ${projectName}.`,
    `To accept, open this link by ${until}:`,
  ];
  const closing =
    'If you did not expect this invitation, ignore this mail: nothing happens until you accept.';
  return {
    to,
    senderName: projectName,
    subject: `Invitation to ${projectName}`,
    text: `${lines.join('\n\n')}\n\n${url}\n\n${closing}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
      `<p><a href="${escapeHtml(url)}">Accept the invitation</a></p>`,
      `<p style="color:#555">${escapeHtml(closing)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
