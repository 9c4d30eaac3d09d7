import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { StageSecret } from '../keys/signer.ts';

/** A new address is to be confirmed within a day. */
export const addressMs = 86_400_000;

/** What the link to a new address is bound to: whose it is to be, and which of their changes. */
export interface AddressLink {
  userId: string;
  /** Ms since the epoch: when it was asked for. */
  generation: number;
  email: string;
}

/** HMAC-SHA256 under a key of the stage that signs nothing else. base64url, 43 characters. */
function addressSecret(stage: StageSecret, { userId, generation, email }: AddressLink): string {
  const key = Buffer.from(hkdfSync('sha256', stage, '', 'portico new address', 32));
  return createHmac('sha256', key)
    .update(JSON.stringify([userId, generation, email]))
    .digest('base64url');
}

export function isAddressSecret(stage: StageSecret, link: AddressLink, given: string): boolean {
  const expected = Buffer.from(addressSecret(stage, link));
  const actual = Buffer.from(given);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** `<user>.<generation>`; undefined for another form. */
export function parseAddressId(id: string): Pick<AddressLink, 'userId' | 'generation'> | undefined {
  const [, userId, generation] = /^([\w-]{1,64})\.(\d{13})$/.exec(id) ?? [];
  return userId && generation ? { userId, generation: Number(generation) } : undefined;
}

/** Opens on the stage's own origin; the fragment never reaches a server or its logs. */
export function addressUrl(baseUrl: string, stage: StageSecret, link: AddressLink): string {
  const id = `${link.userId}.${link.generation}`;
  const fragment = new URLSearchParams({ id, secret: addressSecret(stage, link) });
  return `${baseUrl}/app/verify#${fragment}`;
}
