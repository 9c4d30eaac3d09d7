import type { KeyRing } from '../keys/key-ring.ts';
import { isMac, macOf } from '../keys/mac.ts';

/** A new address is to be confirmed within a day. */
export const addressMs = 86_400_000;

/** What the link to a new address is bound to: whose it is to be, and which of their changes. */
export interface AddressLink {
  userId: string;
  /** Ms since the epoch: when it was asked for. */
  generation: number;
  email: string;
}

export function isAddressSecret(ring: KeyRing, link: AddressLink, given: string): Promise<boolean> {
  return isMac(ring, textOf(link), given);
}

function textOf({ userId, generation, email }: AddressLink): string {
  return JSON.stringify([userId, generation, email]);
}

/** `<user>.<generation>`; undefined for another form. */
export function parseAddressId(id: string): Pick<AddressLink, 'userId' | 'generation'> | undefined {
  const [, userId, generation] = /^([\w-]{1,64})\.(\d{13})$/.exec(id) ?? [];
  return userId && generation ? { userId, generation: Number(generation) } : undefined;
}

/** Opens on the stage's own origin; the fragment never reaches a server or its logs. */
export async function addressUrl(baseUrl: string, ring: KeyRing, link: AddressLink): Promise<string> {
  const id = `${link.userId}.${link.generation}`;
  const fragment = new URLSearchParams({ id, secret: await macOf(ring, textOf(link)) });
  return `${baseUrl}/app/verify#${fragment}`;
}
