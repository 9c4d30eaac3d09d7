import type { RefusalIssue } from '../refusal.ts';

/** R4 narrative: the elements of XHTML that show text and nothing else. */
const elements = new Set(
  'a abbr acronym b bdo big blockquote br caption center cite code col colgroup dd del dfn dir div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd li map menu area ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var'.split(
    ' ',
  ),
);

const attribute = `\\s+([A-Za-z_:][-A-Za-z0-9_:.]*)\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`;
const tag = new RegExp(`</?([A-Za-z][A-Za-z0-9]*)((?:${attribute})*)\\s*/?>`, 'y');
const comment = /<!--(?:[^-]|-[^-])*-->/y;

/**
 * Narratives that hold more than text: scripts, forms, frames, what reacts to the reader, links that run.
 * @returns an issue for each, with the element as expression
 */
export function narrativeFaults(value: unknown, at: string): RefusalIssue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const path = Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`;
    if (name !== 'div' || typeof part !== 'string') return narrativeFaults(part, path);
    const fault = faultOf(part);
    return fault === undefined ? [] : [{ text: `A narrative is text only: ${fault}`, expression: path }];
  });
}

function faultOf(html: string): string | undefined {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    // What browsers take for text is text.
    if (!/[A-Za-z/!?]/.test(html.charAt(at + 1))) continue;
    comment.lastIndex = at;
    if (comment.test(html)) continue;
    tag.lastIndex = at;
    const found = tag.exec(html);
    if (!found) return 'a tag cannot be read';
    const [, name = '', attributes = ''] = found;
    if (!elements.has(name.toLowerCase())) return `the element ${name} is not allowed`;
    for (const [, attributeName = '', double, single] of attributes.matchAll(new RegExp(attribute, 'g'))) {
      if (/^on/i.test(attributeName)) return `the attribute ${attributeName} is not allowed`;
      const isLink = /^(?:href|src|cite|longdesc|background|xlink:href)$/i.test(attributeName);
      if (isLink && !isHarmless(double ?? single ?? '')) return `the link of ${attributeName} is not allowed`;
    }
  }
  return undefined;
}

/** A link to elsewhere, or inside; an image in itself. References written as numbers could hide another. */
function isHarmless(link: string): boolean {
  const plain = [...link]
    .filter((one) => one > ' ' && one !== '\u007f')
    .join('')
    .toLowerCase();
  if (plain.includes('&#') || /&(?:colon|tab|newline);/.test(plain)) return false;
  const scheme = /^([^/?#]*?):/.exec(plain)?.[1];
  if (scheme === undefined) return true;
  return (
    ['http', 'https', 'ftp', 'mailto', 'tel', 'urn', 'cid'].includes(scheme) ||
    /^data:image\/(?!svg)/.test(plain)
  );
}
