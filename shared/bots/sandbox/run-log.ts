/** The log of one run: secrets masked, control characters made visible, cut at the limit. */

import type { BotSecret, LogEntry, RunResult } from '../run/contract.ts';

const LEVELS: readonly LogEntry['level'][] = ['debug', 'info', 'warn', 'error'];
/** One line. The guest cuts at 65,536, so what it may have cut through is cut off here. */
const LINE = 16_384;
/** Counted for an entry beside its text: a million empty lines are no small log. */
const ENTRY_BYTES = 32;
const MASK = '***';
/** Where the guest cuts: a message (runtime.ts), a line (console.ts). */
const GUEST_CUTS: readonly number[] = [4096, 65_536];
/** Shorter values would mask half of any text. */
const SHORTEST_SECRET = 6;

export type Mask = (text: string) => string;

/** `logBytes` bounds the UTF-8 bytes kept, entries included. */
export function createRunLog(logBytes: number, mask: Mask) {
  const log: LogEntry[] = [];
  let left = logBytes;
  let logTruncated = false;
  return {
    add(level: string, text: string): void {
      if (logTruncated) return;
      const line = cut(escapeControls(mask(text)), LINE);
      const bytes = Buffer.byteLength(line) + ENTRY_BYTES;
      if (bytes > left) {
        logTruncated = true;
        left = 0;
        return;
      }
      left -= bytes;
      log.push({
        atMs: Date.now(),
        level: LEVELS.find((known) => known === level) ?? 'info',
        text: line,
      });
    },
    read: (): Pick<RunResult, 'log' | 'logTruncated'> => ({ log: [...log], logTruncated }),
  };
}

/** Replaces the values of secrets of every kind, as they are and as they look inside a JSON text. */
export function maskOf(secrets: Record<string, BotSecret>): Mask {
  const values = Object.values(secrets)
    .flatMap(({ name: _name, ...value }) => Object.values(value))
    .flatMap((value) => (value === undefined ? [] : String(value)))
    .filter((value) => value.length >= SHORTEST_SECRET);
  const all = [...new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
  all.sort((a, b) => b.length - a.length);
  const masks = all.map(maskOfValue);
  return (text) => {
    const whole = masks.reduce((masked, one) => one(masked).masked, text);
    if (!GUEST_CUTS.includes(text.length)) return whole;
    // The guest has cut it, perhaps through a secret: an end that is the beginning of one is masked too.
    const begun = masks.reduce((most, one) => Math.max(most, one(whole).begun), 0);
    return begun === 0 ? whole : whole.slice(0, -begun) + MASK;
  };
}

/**
 * Replaces one value, and tells how many characters at the end are its first ones: after Knuth, Morris and Pratt, for what
 * `replaceAll` takes can be the length of the text times that of the value.
 */
function maskOfValue(value: string): (text: string) => { masked: string; begun: number } {
  const borders = new Uint32Array(value.length);
  const longer = (length: number, code: number) => {
    let kept = length;
    while (kept > 0 && value.charCodeAt(kept) !== code) kept = borders[kept - 1] ?? 0;
    return value.charCodeAt(kept) === code ? kept + 1 : 0;
  };
  for (let at = 1; at < value.length; at++) borders[at] = longer(borders[at - 1] ?? 0, value.charCodeAt(at));
  return (text) => {
    let [masked, from, begun] = ['', 0, 0];
    for (let at = 0; at < text.length; at++) {
      begun = longer(begun, text.charCodeAt(at));
      if (begun < value.length) continue;
      masked += text.slice(from, at + 1 - begun) + MASK;
      [from, begun] = [at + 1, 0];
    }
    return { masked: masked + text.slice(from), begun };
  };
}

/** Terminals and log viewers act on these; line ends and tabs stay, for an entry is a JSON string. */
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Cut with a mark, never through a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text
    .slice(0, length)
    .toWellFormed()
    .replace(/\ufffd$/, '')}… (${text.length - length} more characters)`;
}
