import { brotliDecompressSync } from 'node:zlib';
import { normalisePassword, shortestPassword } from './password.ts';

let remembered: ReadonlySet<string> | undefined;

/**
 * Whether a password is among the first that an attacker tries (NIST SP 800-63B section 3.1.1.2): on a list of
 * common and breached ones, with or without digits and signs after it, a short pattern over and over, a run
 * of the alphabet or of digits, or the person's own address.
 * @param email of the person who chooses it, normalised
 */
export async function isCommonPassword(password: string, email?: string): Promise<boolean> {
  const text = normalisePassword(password);
  if (text === email || text === email?.slice(0, email.lastIndexOf('@'))) return true;
  remembered ??= await unpack();
  const list = remembered;
  return [password, text, text.replace(/[^\p{L}\p{N}]+$/u, ''), text.replace(/[^\p{L}]+$/u, '')]
    .filter((one) => one.length >= shortestPassword)
    .some((one) => list.has(one) || isPattern(one));
}

/** Imported when the first password is chosen: a cold start does not parse it. */
async function unpack(): Promise<ReadonlySet<string>> {
  const { commonPasswords } = await import('./common-password-list.ts');
  return new Set(brotliDecompressSync(Buffer.from(commonPasswords, 'base64')).toString('ascii').split('\n'));
}

function isPattern(text: string): boolean {
  return /^(.{1,4})\1+$/su.test(text) || isRun(text, 1) || isRun(text, -1);
}

/** Each character follows the one before: `abcdefgh`, `87654321`. */
function isRun(text: string, step: 1 | -1): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return codes.every((code, i) => i === 0 || code === (codes[i - 1] ?? 0) + step);
}
