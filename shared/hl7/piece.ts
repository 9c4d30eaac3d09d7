/**
 * The piece number `position` (from 0) between separators, or undefined when there are fewer.
 * Looks no further than that piece, so one value of a long segment is read without splitting it.
 */
export function piece(text: string, separator: string, position: number): string | undefined {
  let start = 0;
  for (let skipped = 0; skipped < position; skipped += 1) {
    const next = separator === '' ? -1 : text.indexOf(separator, start);
    if (next < 0) {
      return undefined;
    }
    start = next + separator.length;
  }
  const end = separator === '' ? -1 : text.indexOf(separator, start);
  return text.slice(start, end < 0 ? undefined : end);
}

/** All pieces; a separator that the message does not use splits nothing. */
export function pieces(text: string, separator: string): string[] {
  return separator === '' ? [text] : text.split(separator);
}
