import { hash } from 'node:crypto';

/** One name for several parts, of 40 letters and digits; other parts have another. */
export function nameOfParts(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 40);
}
