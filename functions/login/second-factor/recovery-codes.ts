import { createHash, randomBytes } from 'node:crypto';

/** How many a person is given at a time. */
const howMany = 10;

/** Crockford's: no letter is taken for a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 16;

/** Codes as a person writes them down, and what is stored of them. */
export interface RecoveryCodes {
  /** Shown once: four groups of four characters with dashes between them, 80 random bits each. */
  codes: string[];
  hashes: Set<string>;
}

/** The codes as they are answered, once. */
export interface NewRecoveryCodes {
  recoveryCodes: string[];
}

/** What opens a sign-in when the phone is gone, each code once. */
export function newRecoveryCodes(userId: string): RecoveryCodes {
  const plain = Array.from({ length: howMany }, () =>
    Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join(''),
  );
  return {
    codes: plain.map((code) => code.replace(/(.{4})(?=.)/g, '$1-')),
    hashes: new Set(plain.map((code) => hashOf(userId, code))),
  };
}

/**
 * The hash of what was typed, dashes, spaces and case left aside; undefined for what cannot be such a code.
 * A fast hash is enough: there is too much to guess.
 */
export function recoveryHash(userId: string, typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const plain = typed.replace(/[\s-]/g, '').toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(plain) ? hashOf(userId, plain) : undefined;
}

function hashOf(userId: string, plain: string): string {
  return createHash('sha256').update(`${userId} ${plain}`).digest('hex');
}
