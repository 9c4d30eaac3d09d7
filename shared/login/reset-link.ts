import type { KeyRing } from '../keys/key-ring.ts';
import { isMac, macOf } from '../keys/mac.ts';

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

export function isResetSecret(ring: KeyRing, link: ResetLink, given: string): Promise<boolean> {
  return isMac(ring, textOf(link), given);
}

function textOf({ userId, expiresAtMs, passwordHash, email }: ResetLink): string {
  return JSON.stringify([userId, expiresAtMs, passwordHash, email]);
}

/** `<user>.<expiry>`; the id of an invitation's link has three parts. Undefined for another form. */
export function parseResetId(id: string): Pick<ResetLink, 'userId' | 'expiresAtMs'> | undefined {
  const [, userId, expiry] = /^([\w-]{1,64})\.(\d{13})$/.exec(id) ?? [];
  return userId && expiry ? { userId, expiresAtMs: Number(expiry) } : undefined;
}

/** Opens on the stage's own origin; the fragment never reaches a server or its logs. */
export async function resetUrl(baseUrl: string, ring: KeyRing, link: ResetLink): Promise<string> {
  const id = `${link.userId}.${link.expiresAtMs}`;
  const fragment = new URLSearchParams({ id, secret: await macOf(ring, textOf(link)) });
  return `${baseUrl}/app/reset#${fragment}`;
}
