import { isMac, type KeyRing, macOf } from '../../carry/keys/key-ring.ts';

/** A link that is mailed: to which page of our own, with which id, and what its secret is bound to. No secret is stored. */
interface MailedLink {
  page: string;
  id: string;
  boundTo: readonly unknown[];
}

/** @param ring of the key that the stage has for links of this kind and for nothing else */
export function linkSecret(ring: KeyRing, { boundTo }: MailedLink): Promise<string> {
  return macOf(ring, JSON.stringify(boundTo));
}

export function isLinkSecret(ring: KeyRing, { boundTo }: MailedLink, given: string): Promise<boolean> {
  return isMac(ring, JSON.stringify(boundTo), given);
}

/** Id and secret stand in the fragment, which never reaches a server or its logs. */
export async function linkUrl(baseUrl: string, ring: KeyRing, link: MailedLink): Promise<string> {
  const { page, id } = link;
  return `${baseUrl}/app/${page}#${new URLSearchParams({ id, secret: await linkSecret(ring, link) })}`;
}

/** `<user>.<ms since the epoch>`; the id of an invitation's link has three parts. Undefined for another form. */
function parseUserId(id: string): { userId: string; atMs: number } | undefined {
  const [, userId, at] = /^([\w-]{1,64})\.(\d{13})$/.exec(id) ?? [];
  return userId && at ? { userId, atMs: Number(at) } : undefined;
}

/** A new address is to be confirmed within a day. */
export const addressMs = 86_400_000;

/** What a link to an address is bound to: whose it is to be, and which of their changes. */
interface AddressLink {
  userId: string;
  /** Ms since the epoch: when it was asked for, or made. */
  generation: number;
  /** The one that it is mailed to, and makes theirs. */
  email: string;
}

/** @param deed what the link does: it confirms a new address, or takes the one before back */
export function addressLink(deed: 'verify' | 'undo', { userId, generation, email }: AddressLink): MailedLink {
  const boundTo = [...(deed === 'undo' ? [deed] : []), userId, generation, email];
  return { page: deed, id: `${userId}.${generation}`, boundTo };
}

export function parseAddressId(id: string): Pick<AddressLink, 'userId' | 'generation'> | undefined {
  const parsed = parseUserId(id);
  return parsed && { userId: parsed.userId, generation: parsed.atMs };
}

/** A link is good for an hour. */
export const resetMs = 3_600_000;

/**
 * What one reset of a password is bound to. The password that it replaces and the address that it went
 * to are among it: once either has changed every earlier link is dead, without any being stored.
 */
interface ResetLink {
  userId: string;
  expiresAtMs: number;
  passwordHash: string;
  email: string;
}

export function resetLink({ userId, expiresAtMs, passwordHash, email }: ResetLink): MailedLink {
  const boundTo = [userId, expiresAtMs, passwordHash, email];
  return { page: 'reset', id: `${userId}.${expiresAtMs}`, boundTo };
}

export function parseResetId(id: string): Pick<ResetLink, 'userId' | 'expiresAtMs'> | undefined {
  const parsed = parseUserId(id);
  return parsed && { userId: parsed.userId, expiresAtMs: parsed.atMs };
}

/** One link of one membership. A new generation or expiry makes another secret. */
interface InvitationLink {
  project: string;
  membershipId: string;
  generation: number;
  expiresAtMs: number;
}

export function invitationLink(of: InvitationLink): MailedLink {
  const { project, membershipId, generation, expiresAtMs } = of;
  const boundTo = [project, membershipId, generation, expiresAtMs];
  return { page: 'accept', id: `${project}.${membershipId}.${generation}`, boundTo };
}
