/**
 * Cuts a search value at a separator, except where a backslash stands before it (R4 search, escaping).
 * @param most how many pieces at most; the last keeps the rest
 * @returns the pieces, still escaped
 */
export function splitValue(
  text: string,
  separator: ',' | '|' | '$',
  most = Number.POSITIVE_INFINITY,
): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length && pieces.length < most - 1; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === separator) {
      pieces.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

/** R4 search, escaping: `\,` `\|` `\$` and `\\` stand for themselves. */
export function unescapeValue(text: string): string {
  return text.replace(/\\([,|$\\])/g, '$1');
}

/** A text as a search value that means just it. */
export function escapeValue(text: string): string {
  return text.replace(/[,|$\\]/g, '\\$&');
}
