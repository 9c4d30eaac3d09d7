import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits: too many to guess, so a fast hash is enough to store. */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function hashClientSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares in constant time; an unknown client (`hash` undefined) takes the same time and is never equal. */
export function matchesClientSecret(secret: string, hash: string | undefined): boolean {
  const given = Buffer.from(hashClientSecret(secret), 'hex');
  const stored = Buffer.from(hash ?? '0'.repeat(64), 'hex');
  return timingSafeEqual(given, stored) && hash !== undefined;
}
