/** The two parts of a mail that asks its reader to open a link. Names are text: escaped in HTML. */
export function letter(of: { lines: readonly string[]; action: string; url: string; closing: string }): {
  text: string;
  html: string;
} {
  const { lines, action, url, closing } = of;
  return {
    text: `${lines.join('\n\n')}\n\n${url}\n\n${closing}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
      `<p><a href="${escapeHtml(url)}">${escapeHtml(action)}</a></p>`,
      `<p style="color:#555">${escapeHtml(closing)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
