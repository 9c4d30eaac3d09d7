import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { StageSecret } from '../keys/signer.ts';

/** A link is good for an hour. */
export const resetMs = 3_600_000;

/**
 * What one reset of a password is bound to. The password that it replaces and the address that it went
 * to are among it: once either has changed every earlier link is dead, without any being stored.
 */
export interface ResetLink {
  userId: string;
  expiresAtMs: number;
  passwordHash: string;
  email: string;
}

/** HMAC-SHA256 under a key of the stage that signs nothing else. base64url, 43 characters. */
function resetSecret(stage: StageSecret, link: ResetLink): string {
  const key = Buffer.from(hkdfSync('sha256', stage, '', 'portico password reset', 32));
  const { userId, expiresAtMs, passwordHash, email } = link;
  const text = JSON.stringify([userId, expiresAtMs, passwordHash, email]);
  return createHmac('sha256', key).update(text).digest('base64url');
}

export function isResetSecret(stage: StageSecret, link: ResetLink, given: string): boolean {
  const expected = Buffer.from(resetSecret(stage, link));
  const actual = Buffer.from(given);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** `<user>.<expiry>`; the id of an invitation's link has three parts. Undefined for another form. */
export function parseResetId(id: string): Pick<ResetLink, 'userId' | 'expiresAtMs'> | undefined {
  const [, userId, expiry] = /^([\w-]{1,64})\.(\d{13})$/.exec(id) ?? [];
  return userId && expiry ? { userId, expiresAtMs: Number(expiry) } : undefined;
}

/** Opens on the stage's own origin; the fragment never reaches a server or its logs. */
export function resetUrl(baseUrl: string, stage: StageSecret, link: ResetLink): string {
  const id = `${link.userId}.${link.expiresAtMs}`;
  const fragment = new URLSearchParams({ id, secret: resetSecret(stage, link) });
  return `${baseUrl}/app/reset#${fragment}`;
}
