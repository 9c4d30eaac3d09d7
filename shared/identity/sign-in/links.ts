import { isMac, type KeyRing, macOf } from '../../carry/keys/key-ring.ts';

/** A page of our own that a link opens; the fragment never reaches a server or its logs. */
async function linkUrl(page: string, id: string, secret: Promise<string>): Promise<string> {
  return `${page}#${new URLSearchParams({ id, secret: await secret })}`;
}

/** `<user>.<ms since the epoch>`; the id of an invitation's link has three parts. Undefined for another form. */
function parseUserId(id: string): { userId: string; atMs: number } | undefined {
  const [, userId, at] = /^([\w-]{1,64})\.(\d{13})$/.exec(id) ?? [];
  return userId && at ? { userId, atMs: Number(at) } : undefined;
}

/** A new address is to be confirmed within a day. */
export const addressMs = 86_400_000;

/** What a link to an address is bound to: whose it is to be, and which of their changes. */
export interface AddressLink {
  userId: string;
  /** Ms since the epoch: when it was asked for, or made. */
  generation: number;
  /** The one that it is mailed to, and makes theirs. */
  email: string;
}

/** What a link does: it confirms a new address, or takes the one before back. */
type AddressDeed = 'verify' | 'undo';

export function isAddressSecret(
  ring: KeyRing,
  deed: AddressDeed,
  link: AddressLink,
  given: string,
): Promise<boolean> {
  return isMac(ring, addressText(deed, link), given);
}

function addressText(deed: AddressDeed, { userId, generation, email }: AddressLink): string {
  return JSON.stringify([...(deed === 'undo' ? [deed] : []), userId, generation, email]);
}

export function parseAddressId(id: string): Pick<AddressLink, 'userId' | 'generation'> | undefined {
  const parsed = parseUserId(id);
  return parsed && { userId: parsed.userId, generation: parsed.atMs };
}

export function addressUrl(
  baseUrl: string,
  ring: KeyRing,
  deed: AddressDeed,
  link: AddressLink,
): Promise<string> {
  const id = `${link.userId}.${link.generation}`;
  return linkUrl(`${baseUrl}/app/${deed}`, id, macOf(ring, addressText(deed, link)));
}

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
  return isMac(ring, resetText(link), given);
}

function resetText({ userId, expiresAtMs, passwordHash, email }: ResetLink): string {
  return JSON.stringify([userId, expiresAtMs, passwordHash, email]);
}

export function parseResetId(id: string): Pick<ResetLink, 'userId' | 'expiresAtMs'> | undefined {
  const parsed = parseUserId(id);
  return parsed && { userId: parsed.userId, expiresAtMs: parsed.atMs };
}

export function resetUrl(baseUrl: string, ring: KeyRing, link: ResetLink): Promise<string> {
  return linkUrl(`${baseUrl}/app/reset`, `${link.userId}.${link.expiresAtMs}`, macOf(ring, resetText(link)));
}

/** One link of one membership. A new generation or expiry makes another secret. */
export interface InvitationLink {
  project: string;
  membershipId: string;
  generation: number;
  expiresAtMs: number;
}

/** Of the link under a key of the stage for nothing else; never stored. */
export function invitationSecret(ring: KeyRing, link: InvitationLink): Promise<string> {
  return macOf(ring, invitationText(link));
}

export function isInvitationSecret(ring: KeyRing, link: InvitationLink, given: string): Promise<boolean> {
  return isMac(ring, invitationText(link), given);
}

function invitationText({ project, membershipId, generation, expiresAtMs }: InvitationLink): string {
  return JSON.stringify([project, membershipId, generation, expiresAtMs]);
}

/** Names a link in URLs and bodies: `<project>.<membership>.<generation>`. */
export function linkId({ project, membershipId, generation }: InvitationLink): string {
  return `${project}.${membershipId}.${generation}`;
}

export function invitationUrl(baseUrl: string, ring: KeyRing, link: InvitationLink): Promise<string> {
  return linkUrl(`${baseUrl}/app/accept`, linkId(link), invitationSecret(ring, link));
}
